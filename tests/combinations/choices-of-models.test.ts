import { Agent, chatMiddleware, createSession } from '../../packages/core/src/index.ts'
import { promptCacheDoctor } from '../../packages/middleware-cache/src/index.ts'
import { route } from '../../packages/middleware-fallback/src/index.ts'
import { models } from '../../packages/models/src/index.ts'
import { record as telemetryRecord } from '../../packages/otel/src/telemetry.test-helper.ts'
import { tracing } from '../../packages/otel/src/index.ts'
import { recorder, textOf } from '../../packages/picture/src/index.ts'
import { runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'
import { expect, it } from 'vitest'

/** A recorder, with the text of its last run. */
function recording() {
  let last = ''
  let lines = ''
  const record = recorder({
    sink: {
      write(text, { id }) {
        lines = last === id ? lines + text : text
        last = id
      },
    },
  })
  const picture = async (): Promise<string> => {
    await record.flush()
    return textOf(lines)
  }
  return { record, picture }
}

it.each(runModes)(
  'a routed call tells the choice in its span and its picture, %s',
  async (mode) => {
    const telemetry = telemetryRecord()
    const clientOf = (model: string) => scriptedClient(['Yes.'], { model, provider: 'openai' })
    const { record, picture } = recording()
    const agent = new Agent({
      client: clientOf('own'),
      middleware: record.middleware([
        tracing(telemetry.options),
        route({
          clients: [
            { client: clientOf('gpt-5'), when: () => false },
            { client: clientOf('gpt-5-mini') },
          ],
        }),
      ]),
    })

    await runIn(mode, agent, { input: 'Hello' })

    const events = (await telemetry.spans()).flatMap((span) => span.events)
    expect(events.map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
      {
        name: 'lamella.route',
        'lamella.route.middleware': 'route',
        'lamella.route.client': 'openai/gpt-5-mini',
        'lamella.route.because': 'only',
        'lamella.route.skipped.openai/gpt-5': 'when',
      },
    ])
    expect(await picture()).toMatch(/route .* chose openai\/gpt-5-mini \(only\)/)
  },
)

it.each(runModes)('a picture names who changed what the provider had cached, %s', async (mode) => {
  let call = 0
  const { record, picture } = recording()
  const client = scriptedClient(
    () => ({
      messages: [{ role: 'assistant', contents: 'Yes.' }],
      usage: { inputTokens: 1_000, cachedInputTokens: call++ === 1 ? 900 : 0, outputTokens: 1 },
    }),
    { model: 'gpt-4o', provider: 'openai' },
  )
  const clock = chatMiddleware('clock', async (context, callNext) => {
    context.instructions = `It is call ${call}.`
    await callNext()
  })
  const agent = new Agent({
    client,
    middleware: record.middleware(promptCacheDoctor([clock], { prices: models })),
  })
  const session = createSession()
  for (let run = 0; run < 3; run++) await runIn(mode, agent, { input: `Question ${run}`, session })

  expect(await picture()).toMatch(/clock .* lost \d+ cached tokens/)
})
