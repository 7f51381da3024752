import type { MiddlewareInput } from '@lamella/core'
import { Agent, agentMiddleware, chatMiddleware, tool } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pictureOf } from '../views/picture-of.ts'
import { again, blocks, note, overloaded, recorded, shout } from '../recording.test-helper.ts'
import { textOf } from '../views/text-of.ts'
import { laneOf } from './lanes.ts'
import { flatRows, onionOf } from './onion.ts'
import { readRecording } from './read-recording.ts'
import { runs } from '../../../../tests/support/runs.ts'

const look = tool({ name: 'look', description: '', execute: () => 'seen' })

/** Holds text back until there is enough of it. */
const hold = (): MiddlewareInput =>
  chatMiddleware('hold', async (context, callNext) => {
    let held = ''
    context.transformUpdates({
      start: () => void (held = ''),
      transform(update, controller) {
        const [part] = update.contents
        if (part?.type !== 'text') controller.enqueue(update)
        else if ((held += part.text).length > 5) {
          controller.enqueue({ ...update, contents: [{ ...part, text: held }] })
          held = ''
        }
      },
      flush: (controller) => {
        if (held !== '')
          controller.enqueue({ role: 'assistant', contents: [{ type: 'text', text: held }] })
      },
    })
    await callNext()
  })
const replace = (): MiddlewareInput =>
  chatMiddleware('replace', async (context, callNext) => {
    await callNext()
    if (context.result?.functionCalls.length === 0) context.result = 'Something else.'
  })
const againRun = (): MiddlewareInput =>
  agentMiddleware('again-run', (_, callNext) =>
    callNext().catch(async () => void (await callNext())),
  )

const middlewares = {
  again,
  shout,
  note: () => note(),
  hold,
  replace,
  againRun,
  blocks: () => blocks('zebra'),
}
const words = fc.array(fc.constantFrom('one ', 'two ', 'three ', 'zebra ', 'x', ''), {
  maxLength: 8,
})
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  words.map((updates) => ({ updates: [...updates, { finishReason: 'stop' as const }] })),
  words.map((updates) => ({ updates, error: overloaded() })),
  fc.constant([callFunction('look'), callFunction('look', { at: 1 })]),
  words.map((updates) => updates.join('')),
)

it('puts together the text of the response, for any run, from the lines alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(fc.constantFrom(...Object.keys(middlewares)), { maxLength: 4 }),
      fc.boolean(),
      async (steps, names, stream) => {
        let text: string | undefined
        const { runs: seen } = await recorded({ capture: 'full' }, async (record) => {
          const list = names.map((name) => middlewares[name as keyof typeof middlewares]())
          const agent = new Agent({
            client: scriptedClient(steps),
            tools: [look],
            middleware: record.middleware(list),
          })
          const response = await (stream
            ? agent.run('Hi', { stream: true }).finalResponse()
            : agent.run('Hi')
          ).catch(() => undefined)
          text = response?.status === 'completed' ? response.text : undefined
        })
        if (text === undefined) return

        expect(laneOf(seen[0]!.calls[0]!, 0).text).toBe(text)
      },
    ),
    { numRuns: runs(300) },
  )
})

it('opens a recording that was cut off anywhere', async () => {
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const client = scriptedClient([
      callFunction('look'),
      { updates: ['One '], error: overloaded() },
      'Two ☃.',
    ])
    const agent = new Agent({
      client,
      tools: [look],
      middleware: record.middleware([again(), shout()]),
    })
    await agent.run('Hi', { stream: true }).finalResponse()
  })
  const bytes = new TextEncoder().encode(text)

  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length), fc.nat(bytes.length), async (one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)]
      for (const cut of [bytes.subarray(0, to), bytes.subarray(from, to)]) {
        const part = new TextDecoder().decode(cut)
        for (const run of readRecording(part))
          expect(flatRows(onionOf(run)).length).toBeGreaterThan(0)
        expect(textOf(part)).not.toBe('')
        expect(pictureOf(part)).toContain('</html>')
      }
    }),
    { numRuns: runs(300) },
  )
})

it('opens lines of other versions and of unknown kinds', () => {
  const lines = [
    '{"k":"run","v":2,"t":0,"r":1}',
    '{"k":"new","t":1,"r":1}',
    'null',
    '[]',
    '{"k":"in"}',
    '',
    '{"k":"up","t":1,"r":1,"c":3,"p":0}',
  ]

  const [run] = readRecording(lines.join('\n'))

  expect(run?.calls).toHaveLength(1)
  expect(pictureOf(lines.join('\n'))).toContain('"unreadable":4')
})
