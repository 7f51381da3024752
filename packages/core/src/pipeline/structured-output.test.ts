import type { ScriptedStep } from '@lamella/testing'
import { callFunction, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { AgentContext, AgentOptions, Content, Message, TextContent } from '../index.ts'
import {
  Agent,
  LamellaError,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  jsonSchema,
  message,
  messageText,
  parseValue,
  tool,
} from '../index.ts'
import { interceptLoop } from '../authoring.ts'
import { failureOf, modes, play } from '../loop/loop-invariant.test-helper.ts'
import { respondIn } from '../run/run.test-helper.ts'
import { transforming } from './transform-updates.test-helper.ts'

const weather = z.object({ city: z.string(), degrees: z.coerce.number() })
const city = jsonSchema({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
})
const rome = '{"city":"Rome","degrees":"21"}'

describe.each(modes)('structured output, $name', ({ stream }) => {
  const make = (steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) => {
    const client = scriptedClient(steps)
    const work = tool({ name: 'work', description: '', execute: () => 'ok' })
    return { client, agent: new Agent({ client, tools: [work], ...options }) }
  }

  it.each([
    ["the agent's options", true],
    ["the run's", false],
  ])('by %s is what the schema makes of the answer', async (_, byAgent) => {
    const options = { responseFormat: { schema: weather, name: 'weather' } }
    const { agent, client } = make([rome], byAgent ? { options } : {})

    const { response } = await play(agent, 'Go', { ...(byAgent ? {} : { options }), stream })

    expect(response.value).toEqual({ city: 'Rome', degrees: 21 })
    expect(response.text).toBe(rome)
    expect(client.requests[0]!.options.responseFormat).toEqual(options.responseFormat)
  })

  it.each([
    ['a middleware of the run', agentMiddleware],
    ['a middleware of the model call', chatMiddleware],
  ])('may be asked for by %s', async (_, middleware) => {
    const outer = agentMiddleware('outer', (__, callNext) => callNext())
    const ask = middleware('ask', async (context: Pick<AgentContext, 'options'>, callNext) => {
      context.options = { ...context.options, responseFormat: { schema: weather } }
      await callNext()
    })
    const { agent } = make([rome], { middleware: [outer, ask] })

    const { response } = await play(agent, 'Go', { stream })

    expect(response.value).toEqual({ city: 'Rome', degrees: 21 })
  })

  it('takes a JSON Schema too', async () => {
    const { agent } = make(['{"city":"Rome"}'])

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: city } },
      stream,
    })

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it('joins text in several parts', async () => {
    const parts = ['{"city":', { type: 'reasoning', text: 'Hm.' }, '"Rome"}'] as const
    const { agent } = make([[...parts]])

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: city } },
      stream,
    })

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it('is of the last message of the model that has text', async () => {
    const { agent } = make([['{"city":"Oslo"}', callFunction('work', {}, 'c1')], '{"city":"Rome"}'])

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: city } },
      stream,
    })

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it.each([
    ['no JSON', 'Rome.'],
    ['what does not fit', '{"town":"Rome"}'],
    ['nothing', ''],
  ])('is missing for %s, and the run still resolves', async (_, answer) => {
    const { agent } = make([answer])

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: city } },
      stream,
    })

    expect(response.status).toBe('completed')
    expect('value' in response).toBe(false)
  })

  it('is missing where no schema was asked for', async () => {
    const { agent } = make([rome, rome])

    const plain = await play(agent, 'Go', { stream })
    const json = await play(agent, 'Go', { options: { responseFormat: 'json' }, stream })

    expect([plain, json].map(({ response }) => response.value)).toEqual([undefined, undefined])
  })

  it('is of the answer that the middlewares let out, in both modes', async () => {
    const replace = agentMiddleware('replace', async (context, callNext) => {
      await callNext()
      context.result = '{"city":"Bern"}'
    })
    const { agent } = make(['{"city":"Rome"}'], { middleware: replace })

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: city } },
      stream,
    })

    expect(response.value).toEqual({ city: 'Bern' })
  })

  it('is there wherever the response is: in every middleware and hook', async () => {
    const seen: (readonly [string, unknown])[] = []
    const at = (place: string, value: unknown): void => void seen.push([place, value])
    const ofRun = (name: string) =>
      agentMiddleware(name, async (context, callNext) => {
        if (name === 'hooks') {
          interceptLoop(context.run, {
            name,
            response: ({ response }) => at('response', response?.value),
            iteration: async (iteration, next) => {
              await next()
              at('iteration', iteration.response?.value)
            },
          })
        }
        at(name, (await callNext()).value)
        at(name, context.result?.value)
      })
    const ofCall = (name: string) =>
      chatMiddleware(name, async (context, callNext) => {
        at(name, (await callNext()).value)
        at(name, context.result?.value)
      })
    const cased = agentMiddleware('cased', async (_, callNext) => {
      const result = await callNext()
      return { ...result, messages: [message('assistant', result.text.replace('Rome', 'Bern'))] }
    })
    const middleware = [ofRun('outer'), cased, ofRun('hooks'), ofCall('call'), ofCall('inner')]
    const { agent } = make([rome], { middleware })

    await play(agent, 'Go', { options: { responseFormat: { schema: weather } }, stream })

    const value = { city: 'Rome', degrees: 21 }
    const bern = { city: 'Bern', degrees: 21 }
    expect(seen).toEqual([
      ...['inner', 'inner', 'call', 'call', 'response', 'iteration', 'hooks', 'hooks'].map(
        (place) => [place, value],
      ),
      ...['outer', 'outer'].map((place) => [place, bern]),
    ])
  })

  it('is not made twice of one answer', async () => {
    let reads = 0
    const counting = weather.transform((read) => ({ ...read, reads: ++reads }))
    const pass = agentMiddleware('pass', (_, callNext) => callNext())
    const note = chatMiddleware('note', async (_, callNext) => {
      const result = await callNext()
      return { ...result, metadata: { noted: true } }
    })
    const { agent } = make([rome], { middleware: [pass, note] })

    const { response } = await play(agent, 'Go', {
      options: { responseFormat: { schema: counting } },
      stream,
    })

    expect(response.value).toMatchObject({ reads: 1 })
  })

  const readCity = chatMiddleware('read-city', async (context, callNext) => {
    const response = await callNext()
    context.result = { ...response, value: { city: response.text } }
  })

  it('is what a middleware around the model call made of the answer', async () => {
    const { agent } = make(['Rome'], { middleware: readCity })

    const { response } = await play(agent, 'Go', { stream })

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it.each([
    ['the model call', chatMiddleware],
    ['the run', agentMiddleware],
  ])(
    'does not outlive the content when a middleware around %s replaces that',
    async (_, middleware) => {
      const redact = middleware('redact', async (context: { result?: unknown }, callNext) => {
        context.result = { ...(await callNext()), messages: [message('assistant', 'Somewhere')] }
      })
      const { agent } = make(['Rome'], { middleware: [redact, readCity] })

      const { response } = await play(agent, 'Go', { stream })

      expect(messageText(response.messages[0]!)).toBe('Somewhere')
      expect(response.value).toBeUndefined()
    },
  )

  const transforms: readonly [string, (content: TextContent) => Content[], object | undefined][] = [
    ['changes the text', ({ text }) => [{ type: 'text', text: `Not ${text}` }], undefined],
    [
      'adds a content without text',
      (content) => [content, { type: 'reasoning', text: 'It is a city.' }],
      { city: 'Rome' },
    ],
  ]

  const answerCity = chatMiddleware('answer-city', (context) => {
    context.result = { ...chatResponse('Rome'), value: { city: 'Rome' } }
  })

  describe.each([
    ['the run', 'the answer', 'agent', readCity],
    ['the model call', 'an answer of a middleware', 'chat', answerCity],
  ] as const)('around a transform of %s, with %s', (_place, _answer, level, middleware) => {
    it.each(transforms)('that %s', async (_, change, value) => {
      const transform = transforming(
        {
          transform(update, controller) {
            const contents = update.contents.flatMap((part) =>
              part.type === 'text' ? change(part) : [part],
            )
            controller.enqueue({ ...update, contents })
          },
        },
        level,
      )
      const { agent } = make(['Rome'], { middleware: [transform, middleware] })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.value).toEqual(value)
    })
  })
})

describe.each(runModes)('structured output of one model call, %s', (mode) => {
  const responseFormat = { schema: city }
  const asking = chatMiddleware('asking', async (context, callNext) => {
    context.options = { ...context.options, responseFormat }
    await callNext()
  })
  const answering = chatMiddleware('answering', (context) => {
    context.result = '{"city":"Rome"}'
  })

  it.each([
    ['the caller, and a middleware answers', { responseFormat }, answering],
    ['a middleware, and the provider answers', {}, asking],
  ])('may be asked for by %s', async (_, options, middleware) => {
    const client = scriptedClient(['{"city":"Rome"}'], { middleware })

    const response = await respondIn(mode, client, options)

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it.each([
    ['false leaves the value out, though the text fits', false, rome, false, false],
    ['true becomes false where the text does not fit', true, 'Rome.', false, false],
    ['true stays where the text fits', true, rome, true, true],
    ['nobody has given is none', undefined, 'Rome.', undefined, false],
  ])('a verdict that %s', async (_, schemaValid, answer, expected, hasValue) => {
    const judging = chatMiddleware('judging', async (context, callNext) => {
      const response = await callNext()
      context.result = { ...response, metadata: { judge: 'me', schemaValid } }
    })
    const client = scriptedClient([answer], { middleware: judging })

    const { metadata, value } = await respondIn(mode, client, { responseFormat })

    expect(metadata).toEqual({ judge: 'me', schemaValid: expected })
    expect(value !== undefined).toBe(hasValue)
  })
})

describe('parseValue', () => {
  it('gives the value, and leaves messages of tools aside', async () => {
    const late: Message = { id: 't', role: 'tool', contents: [{ type: 'text', text: 'no JSON' }] }
    const response = chatResponse({ messages: [{ role: 'assistant', contents: rome }, late] })

    await expect(parseValue(response, weather)).resolves.toEqual({ city: 'Rome', degrees: 21 })
  })

  it.each([
    ['no text', '', 'there is no text'],
    ['no JSON', 'Rome.', 'the text is not JSON'],
    ['what does not fit', '{"degrees":1}', 'city'],
  ])('says what is wrong with %s', async (_, answer, expected) => {
    const error = await failureOf(parseValue(chatResponse(answer), weather))

    expect(LamellaError.is(error, 'schema_invalid')).toBe(true)
    expect(JSON.stringify((error as unknown as { issues: unknown }).issues)).toContain(expected)
  })
})
