import type { ChatMiddleware, RunOptions } from '@lamella/core'
import { Agent, LamellaError, chatMiddleware, jsonSchema, messageText, tool } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import {
  assertChunkInvariant,
  callFunction,
  describeContract,
  middlewareContract,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { SchemaEvent, SchemaValidatorOptions } from './index.ts'
import { schemaValidator } from './index.ts'

const weather = z.object({ city: z.string(), degrees: z.number() })
const rome = '{"city":"Rome","degrees":21}'
const value = { city: 'Rome', degrees: 21 }
const modes = [
  { mode: 'plain', stream: false },
  { mode: 'streamed', stream: true },
] as const

describe.each(modes)('an answer, $mode', ({ stream }) => {
  const play = async (
    steps: readonly ScriptedStep[],
    options: SchemaValidatorOptions<typeof weather> = {},
    more: RunOptions & { readonly outside?: readonly ChatMiddleware[] } = {},
  ) => {
    const { outside = [], ...run } = more
    const client = scriptedClient(steps, { chunk: 3 })
    const events: SchemaEvent[] = []
    const metadata: Record<string, unknown> = {}
    const probe = chatMiddleware('probe', async (context, callNext) => {
      await callNext()
      Object.assign(metadata, context.metadata)
    })
    const middleware = schemaValidator({
      schema: weather,
      onEvent: (e) => events.push(e),
      ...options,
    })
    const work = tool({
      name: 'work',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      }),
      execute: ({ n }) => `got ${String(n)}`,
    })
    const agent = new Agent({ client, tools: [work], middleware: [probe, ...outside, middleware] })
    const shown: string[] = []
    const respond = async () => {
      if (!stream) return agent.run('Go', run)
      const running = agent.run('Go', { ...run, stream: true })
      for await (const update of running) {
        if (update.restart) shown.push('RESTART')
        for (const content of update.contents) if (content.type === 'text') shown.push(content.text)
      }
      return running.finalResponse()
    }
    return { respond, client, events, metadata, shown }
  }

  it('that fits is a value on the response, and passes as it is', async () => {
    const { respond, client, metadata, events, shown } = await play([rome])

    const response = await respond()

    expect(response).toMatchObject({ text: rome, value, metadata: { schemaValid: true } })
    expect(metadata).toMatchObject({ parsed: value, schemaValid: true })
    expect(client.requests[0]!.options.responseFormat).toEqual({ schema: weather })
    expect(events).toMatchObject([{ valid: true, by: 'strict', action: 'none' }])
    expect(shown).not.toContain('RESTART')
  })

  it('is checked with the schema that the call asks for', async () => {
    const other = z.object({ town: z.string() })
    const { respond } = await play(
      ['Here: {"town":"Oslo"}'],
      { schema: undefined },
      { options: { responseFormat: { schema: other } } },
    )

    await expect(respond()).resolves.toMatchObject({ value: { town: 'Oslo' } })
  })

  it('without a schema passes untouched', async () => {
    const { respond, events } = await play(['Not JSON.'], { schema: undefined })

    const response = await respond()

    expect(response.metadata).toEqual({})
    expect(events).toEqual([])
  })

  it('that does not fit passes as it is by default, and that is recorded', async () => {
    const { respond, metadata, events } = await play(['I do not know.'])

    const response = await respond()

    expect(response).toMatchObject({ text: 'I do not know.', metadata: { schemaValid: false } })
    expect(response.value).toBeUndefined()
    expect(metadata).toMatchObject({ schemaValid: false })
    expect(metadata['schemaIssues']).toHaveLength(1)
    expect(events).toMatchObject([{ valid: false, issues: 1, action: 'none' }])
  })

  it.each([
    ['extract', `Here you are:\n\`\`\`json\n${rome}\n\`\`\`\nAnything else?`],
    ['extract', `See [1]. It is ${rome}, I think.`],
    ['json-repair', "Sure! {'city': 'Rome', 'degrees': 21,}"],
    ['json-repair', '{"city":"Rome","degrees":21'],
    ['coerce', '{"city":"Rome","degrees":"21"}'],
    ['coerce', "```\n{city: 'Rome', degrees: '21'}\n```"],
  ])('is repaired by %s: %j', async (by, answer) => {
    const { respond, events, shown } = await play([answer], {
      repair: ['extract', 'json-repair', 'coerce'],
    })

    const response = await respond()

    expect(response).toMatchObject({ text: rome, value })
    expect(events).toMatchObject([{ valid: true, by, action: 'repaired' }])
    expect(shown.slice(shown.lastIndexOf('RESTART') + 1).join('')).toBe(stream ? rome : '')
  })

  it('that was cut off is not completed by a guess', async () => {
    const cut = { messages: '{"city":"Rome","degrees":21', finishReason: 'length' }
    const { respond } = await play([cut])

    await expect(respond()).resolves.toMatchObject({ metadata: { schemaValid: false } })
  })

  it('that is long and broken is mended too, and a hostile one is not', async () => {
    const long = `{city: 'Rome', degrees: 21, more: '${'x'.repeat(20_000)}',}`
    const hostile = `["${'"a"{a`null,'.repeat(20_000)}`
    const mended = await play([long])
    const left = await play([hostile])

    await expect(mended.respond()).resolves.toMatchObject({ value })
    await expect(left.respond()).resolves.toMatchObject({ metadata: { schemaValid: false } })
  })

  it('is asked for again with what was wrong, once by default', async () => {
    const { respond, client, events, metadata } = await play(['{"city":"Rome"}', rome], {
      repair: ['re-ask'],
    })

    const response = await respond()

    expect(response).toMatchObject({ text: rome, value })
    expect(response.attempts).toMatchObject([{ status: 'failed', reason: 'schema_invalid' }])
    const [first, second] = client.requests
    expect(second!.messages.slice(0, 1)).toEqual(first!.messages)
    expect(second!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(second!.messages[2])).toContain('degrees')
    expect(events.map(({ action }) => action)).toEqual(['re-ask', 'none'])
    expect(metadata).not.toHaveProperty('schemaIssues')
    expect(response.messages).toHaveLength(1)
  })

  it('is asked for again at most as often as allowed, and all calls are counted', async () => {
    const bad = { messages: 'No.', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } }
    const { respond, client } = await play([bad, bad, bad], { repair: ['re-ask'], maxReasks: 2 })

    const response = await respond()

    expect(client.requests).toHaveLength(3)
    expect(response.usage.totalTokens).toBe(18)
    expect(response.metadata['schemaValid']).toBe(false)
  })

  it('may be asked for again from another client and another model', async () => {
    const strong = scriptedClient([rome])
    const { respond, client } = await play(['No.'], {
      repair: ['re-ask'],
      reaskClient: strong,
      reaskModel: 'strong',
    })

    await expect(respond()).resolves.toMatchObject({ value })
    expect(client.requests).toHaveLength(1)
    expect(strong.requests[0]!.options.model).toBe('strong')
  })

  it('that is a refusal is not asked for again', async () => {
    const refusal = { messages: { type: 'refusal', text: 'I cannot.' }, finishReason: 'refusal' }
    const { respond, client } = await play([refusal as ScriptedStep], { repair: ['re-ask'] })

    await expect(respond()).resolves.toMatchObject({ metadata: { schemaValid: false } })
    expect(client.requests).toHaveLength(1)
  })

  it('that breaks a rule beyond the schema is treated like one that does not fit it', async () => {
    const { respond, client } = await play(['{"city":"Rome","degrees":99}', rome], {
      repair: ['re-ask'],
      refine: async ({ degrees }) =>
        degrees > 60 ? [{ message: 'is not possible', path: ['degrees'] }] : undefined,
    })

    await expect(respond()).resolves.toMatchObject({ value })
    expect(JSON.stringify(client.requests[1]!.messages)).toContain('degrees: is not possible')
  })

  it('fails the run if that is wanted, with the issues and without the text', async () => {
    const { respond } = await play(['My secret is 1234.'], { onFailure: 'throw' })

    const error: unknown = await respond().catch((thrown: unknown) => thrown)

    expect(LamellaError.is(error, 'schema_invalid')).toBe(true)
    expect(error).toMatchObject({ issues: [{ message: 'the text is not JSON' }], reasks: 0 })
    expect(String(error) + JSON.stringify(error)).not.toContain('My secret')
    expect((error as { response?: { text: string } }).response?.text).toBe('My secret is 1234.')
  })

  it.each([
    ['a value', { fallback: value }],
    ['what a function makes of the issues', { fallback: () => value }],
  ])('is replaced by %s', async (_, onFailure) => {
    const { respond } = await play(['No.'], { onFailure })

    await expect(respond()).resolves.toMatchObject({
      text: rome,
      value,
      metadata: { schemaValid: false },
    })
  })

  it('passes as it is where there is nothing to replace it by', async () => {
    const { respond } = await play(['No.'], { onFailure: { fallback: () => undefined as never } })

    const response = await respond()

    expect(response).toMatchObject({ text: 'No.', metadata: { schemaValid: false } })
    expect(response.value).toBeUndefined()
  })

  it('is only reported on in shadow mode', async () => {
    const { respond, client, events } = await play([`So: ${rome}`], {
      mode: 'shadow',
      repair: ['extract', 're-ask'],
      onFailure: 'throw',
    })

    const response = await respond()

    expect(response).toMatchObject({ text: `So: ${rome}`, metadata: {} })
    expect(client.requests[0]!.options.responseFormat).toBeUndefined()
    expect(events).toMatchObject([{ valid: true, by: 'extract', action: 'none' }])
  })

  it('with tool calls is not the final one', async () => {
    const { respond, events } = await play([
      ['I will look.', callFunction('work', { n: 1 }, 'c1')],
      rome,
    ])

    await expect(respond()).resolves.toMatchObject({ value })
    expect(events).toHaveLength(1)
  })

  it('has its broken tool arguments repaired where that is wanted', async () => {
    const broken = { type: 'function-call', callId: 'c1', name: 'work', arguments: "{n: '7',}" }
    const steps = [[broken as never], rome]
    const repaired = await play(steps, { toolCalls: true, repair: ['json-repair', 'coerce'] })
    const left = await play(steps)

    const results = [await repaired.respond(), await left.respond()].map(({ messages }) =>
      JSON.stringify(messages),
    )

    expect(results[0]).toContain('got 7')
    expect(results[0]).toContain('{\\"n\\":7}')
    expect(repaired.events[0]).toMatchObject({ of: 'arguments', action: 'repaired' })
    expect(results[1]).toContain('invalid_arguments')
  })

  it('is not waited for when the run is aborted while a rule looks at it', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const { respond } = await play(
      [rome],
      {
        refine: () => {
          controller.abort(reason)
          return new Promise(() => {})
        },
      },
      { signal: controller.signal },
    )

    await expect(respond()).rejects.toBe(reason)
  })

  it('is shown as it grows', async () => {
    const seen: unknown[] = []
    const { respond } = await play([`Well: ${rome}`], { onPartial: (part) => seen.push(part) })

    await respond()

    expect(seen.at(-1)).toEqual(value)
    expect(seen.length).toBe(stream ? 10 : 1)
  })

  it('of one run stays apart from those of a thousand others', async () => {
    const client = scriptedClient(({ messages }) => {
      const n = messageText(messages[0]!)
      return messages.length === 1 ? 'No.' : `{"city":"${n}","degrees":1}`
    })
    const middleware = schemaValidator({ schema: weather, repair: ['re-ask'] })
    const agent = new Agent({ client, middleware: middleware })

    const responses = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        stream ? agent.run(`city ${n}`, { stream: true }).finalResponse() : agent.run(`city ${n}`),
      ),
    )

    expect(responses.every(({ value: got }, n) => (got as typeof value).city === `city ${n}`)).toBe(
      true,
    )
  })
})

describe('the middleware', () => {
  it.each([
    [{ repair: ['guess'] }, 'repair'],
    [{ maxReasks: -1 }, 'maxReasks'],
    [{ maxReasks: 1.5 }, 'maxReasks'],
    [{ onFailure: 'retry' }, 'onFailure'],
    [{ schema: 'object' }, 'schema'],
    [{ schema: null }, 'schema'],
    [{ schema: () => true }, 'schema'],
    [weather, 'schema'],
    [{ reaskClient: 'other' }, 'reaskClient'],
    [{ mode: 'on' }, 'mode'],
    [{ refine: 1 }, 'refine'],
    [{ maxRepairChars: -1 }, 'maxRepairChars'],
    [{ toolCalls: 'yes' }, 'toolCalls'],
  ])('refuses %j when it is made', (options, name) => {
    expect(() => schemaValidator(options as never)).toThrow(`schemaValidator: \`${name}\``)
  })

  it('tells nothing of what was said', async () => {
    const events: unknown[] = []
    const middleware = schemaValidator({ schema: weather, onEvent: (event) => events.push(event) })
    const agent = new Agent({
      client: scriptedClient(['My secret is 1234.']),
      middleware: middleware,
    })

    await agent.run('Go', { onEvent: (event) => events.push(event) })

    expect(events).toHaveLength(2)
    expect(JSON.stringify(events)).not.toContain('My secret')
  })

  it('gives the same however the answer is cut', async () => {
    const make = () => schemaValidator({ schema: weather, repair: ['extract', 'json-repair'] })

    await expect(
      assertChunkInvariant(make, { replies: [`\`\`\`json\n${rome}\n\`\`\``, 'No.', rome] }),
    ).resolves.toBeUndefined()
  })
})

describeContract(
  middlewareContract({
    create: () =>
      schemaValidator({ schema: weather, repair: ['extract', 'json-repair', 'coerce'] }),
    texts: [rome, `So: ${rome}`, "{'city': 'Rome', degrees: '21'"],
  }),
  { describe, it },
)
