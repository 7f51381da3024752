import {
  BudgetExhausted,
  chatMiddleware,
  functionMiddleware,
  LamellaError,
  MiddlewareTermination,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { runModes } from '@lamella/testing'
import { APICallError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { aiLines, askModel, mockModel, wrapped } from '../../fixtures/ai-lines.ts'
import { lamellaMiddleware } from '../index.ts'

const hello = { content: [{ type: 'text', text: 'Hello there.' }] }
const passing = chatMiddleware('passing', async (_, callNext) => callNext())
const noFish = guardrail({
  name: 'no-fish',
  level: 'chat',
  applyTo: ['input', 'output'],
  check: ({ text }) =>
    text.includes('fish')
      ? { action: 'block', category: 'fish', message: 'No fish here.' }
      : { action: 'allow' },
  stream: { release: 'full' },
})

function busy(): APICallError {
  return new APICallError({
    message: 'Too Many Requests',
    url: 'https://example.com',
    requestBodyValues: { secret: 'words of the user' },
    statusCode: 429,
    responseHeaders: { 'retry-after-ms': '1' },
    isRetryable: true,
  })
}

const cases = aiLines.flatMap((line) => runModes.map((mode) => ({ line, mode, name: line.name })))

describe.each(cases)('$name, $mode', ({ line, mode }) => {
  const ask = (mock: ReturnType<typeof mockModel>, list: unknown, more: object = {}) =>
    askModel(line, mode, {
      model: wrapped(line, mock, list),
      prompt: 'Hi',
      maxRetries: 0,
      ...more,
    })

  test('an untouched answer is what it is without a list', async () => {
    const content = [
      {
        type: 'reasoning',
        text: 'Hm.',
        providerMetadata: { mock: { signature: 'signed' } },
      },
      { type: 'text', text: 'Hello there.', providerMetadata: { mock: { itemId: 'msg_1' } } },
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com', title: 'Example' },
      { type: 'tool-call', toolCallId: 'call 1', toolName: 'look_up', input: '{"q":"x"}' },
    ]
    const step = {
      content,
      finish: 'tool-calls',
      more: { providerMetadata: { mock: { tier: 'a' } } },
    }
    const tools = {
      look_up: line.ai.tool({ inputSchema: line.ai.jsonSchema<{ q: string }>({ type: 'object' }) }),
    }

    const bare = await ask(mockModel(line.version, [step]), [], { tools })
    const through = await ask(mockModel(line.version, [step]), lamellaMiddleware([passing]), {
      tools,
    })

    expect(through).toEqual(bare)
    expect(through).toMatchObject({ text: 'Hello there.', reasoningText: 'Hm.' })
    expect(through.toolCalls).toHaveLength(1)
    expect(through.sources).toHaveLength(1)
  })

  test('an untouched prompt goes to the model as it came', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.', providerOptions: { mock: { cache: true } } },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?', providerOptions: { mock: { cache: true } } },
          { type: 'file', data: 'aGk=', mediaType: 'text/plain', filename: 'a.txt' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 'signed' } } },
          { type: 'tool-call', toolCallId: 'call 1', toolName: 'look.up', input: { q: 'x' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call 1',
            toolName: 'look.up',
            output: { type: 'json', value: { found: [1] } },
          },
        ],
      },
    ]
    const bare = mockModel(line.version, [hello])
    const through = mockModel(line.version, [hello])
    const more = {
      prompt: undefined,
      messages,
      allowSystemInMessages: true,
      topK: 3,
      temperature: 0,
      stopSequences: ['END'],
      providerOptions: { mock: { effort: 'low' } },
    }

    await ask(bare, [], more)
    await ask(through, lamellaMiddleware([passing]), more)

    expect(settled(through.calls)).toEqual(settled(bare.calls))
  })

  test('middleware edits what the model is sent', async () => {
    const mock = mockModel(line.version, [hello])
    const polite = chatMiddleware('polite', async (context, callNext) => {
      context.instructions = 'Say please.'
      context.messages = [
        ...context.messages,
        { id: 'm', role: 'user', contents: [{ type: 'text', text: 'Please.' }] },
      ]
      context.options = { ...context.options, temperature: 0.5, stop: undefined }
      await callNext()
    })

    await ask(mock, lamellaMiddleware([polite]), { stopSequences: ['END'], seed: 7 })

    expect(mock.calls[0]).toMatchObject({ temperature: 0.5, seed: 7 })
    expect(mock.calls[0]).not.toHaveProperty('stopSequences')
    expect(mock.calls[0]?.['prompt']).toMatchObject([
      { role: 'system', content: 'Say please.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'user', content: [{ type: 'text', text: 'Please.' }] },
    ])
  })

  test('a transform changes both modes alike', async () => {
    const loud = chatMiddleware('loud', async (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) =>
          controller.enqueue({
            ...update,
            contents: update.contents.map((content) =>
              content.type === 'text' ? { ...content, text: content.text.toUpperCase() } : content,
            ),
          }),
      })
      await callNext()
    })

    const { text } = await ask(mockModel(line.version, [hello]), lamellaMiddleware([loud]))

    expect(text).toBe('HELLO THERE.')
  })

  test('a middleware answers in place of the model', async () => {
    const mock = mockModel(line.version, [hello])
    const short = chatMiddleware('short', (context) => {
      context.result = 'From memory.'
    })

    const { text, finishReason } = await ask(mock, lamellaMiddleware([short]))

    expect({ text, finishReason, calls: mock.calls.length }).toEqual({
      text: 'From memory.',
      finishReason: 'stop',
      calls: 0,
    })
  })

  test('a retry of a middleware reaches the model again', async () => {
    const mock = mockModel(line.version, [{ error: busy() }, hello])
    const again = chatMiddleware('again', async (_, callNext) => {
      await callNext().catch(() => callNext())
    })

    const { text } = await ask(mock, lamellaMiddleware([again]))

    expect(text).toBe('Hello there.')
    expect(mock.calls).toHaveLength(2)
  })

  test('a blocked input never reaches the model', async () => {
    const mock = mockModel(line.version, [hello])

    const answer = await ask(mock, lamellaMiddleware(noFish), { prompt: 'I want fish.' })

    expect(mock.calls).toHaveLength(0)
    expect(answer).toMatchObject({ text: 'No fish here.', finishReason: 'content-filter' })
    expect(answer.providerMetadata).toMatchObject({
      lamella: { block: { guardrail: 'no-fish', stage: 'input', category: 'fish' } },
    })
  })

  test('a blocked answer shows nothing of itself', async () => {
    const mock = mockModel(line.version, [{ content: [{ type: 'text', text: 'Have some fish.' }] }])

    const answer = await ask(mock, lamellaMiddleware(noFish))

    expect(answer).toMatchObject({ text: 'No fish here.', finishReason: 'content-filter' })
    expect(JSON.stringify(answer)).not.toContain('some fish')
  })

  test('a block rejects where it is asked to', async () => {
    const mock = mockModel(line.version, [hello])
    const list = lamellaMiddleware(noFish, { onBlock: 'throw' })

    await expect(ask(mock, list, { prompt: 'fish' })).rejects.toSatisfy((error) =>
      LamellaError.is(error, 'guardrail_tripped'),
    )
  })

  test('a termination is an error that says so', async () => {
    const spent = chatMiddleware('spent', () => {
      throw new BudgetExhausted('tokens', 10)
    })
    const over = chatMiddleware('over', () => {
      throw new MiddlewareTermination('over')
    })
    const withAnswer = chatMiddleware('kept', () => {
      throw new MiddlewareTermination('kept', { result: 'The last word.' })
    })
    const mock = (): ReturnType<typeof mockModel> => mockModel(line.version, [hello])

    await expect(ask(mock(), lamellaMiddleware([spent]))).rejects.toMatchObject({
      name: 'AI_LamellaTermination',
      code: 'budget_exhausted',
    })
    await expect(ask(mock(), lamellaMiddleware([over]))).rejects.toMatchObject({
      code: 'middleware_termination',
    })
    expect((await ask(mock(), lamellaMiddleware([withAnswer]))).text).toBe('The last word.')
  })

  test("the model's own error comes out, and the AI SDK retries by it", async () => {
    const failing = mockModel(line.version, [{ error: busy() }])
    const flaky = mockModel(line.version, [{ error: busy() }, hello])

    await expect(ask(failing, lamellaMiddleware([passing]))).rejects.toSatisfy((error) =>
      APICallError.isInstance(error),
    )
    const { text } = await ask(flaky, lamellaMiddleware([passing]), { maxRetries: 1 })

    expect(text).toBe('Hello there.')
  })

  test('the AI SDK does not retry what a middleware has retried', async () => {
    const mock = mockModel(line.version, [{ error: busy() }])
    const owner = chatMiddleware('owner', async (context, callNext) => {
      context.options = { ...context.options, transportRetries: 0 }
      await callNext()
    })

    await expect(ask(mock, lamellaMiddleware([owner]), { maxRetries: 3 })).rejects.toMatchObject({
      code: 'provider_error',
      kind: 'rate_limit',
    })
    expect(mock.calls).toHaveLength(1)
  })

  test('an abort is an abort', async () => {
    const controller = new AbortController()
    const mock = mockModel(line.version, [hello])
    const stopping = chatMiddleware('stopping', async (context, callNext) => {
      controller.abort()
      context.signal.throwIfAborted()
      await callNext()
    })
    const model = wrapped(line, mock, lamellaMiddleware([stopping])) as never
    const options = { model, prompt: 'Hi', abortSignal: controller.signal, maxRetries: 0 }

    const told = mode === 'plain' ? await nameOfError(line, options) : await lastType(line, options)

    expect(told).toBe(mode === 'plain' ? 'AbortError' : 'abort')
    expect(mock.calls).toHaveLength(0)
  })

  test('two lists nest as they stand', async () => {
    const order: string[] = []
    const named = (name: string) =>
      lamellaMiddleware([
        chatMiddleware(name, async (_, callNext) => {
          order.push(name)
          await callNext()
        }),
      ])

    const { text } = await ask(mockModel(line.version, [hello]), [named('outer'), named('inner')])

    expect(text).toBe('Hello there.')
    expect(order).toEqual(['outer', 'inner'])
  })
})

describe.each(aiLines)('$name, streams', (line) => {
  const replaced = chatMiddleware('replaced', async (context, callNext) => {
    await callNext()
    context.result = 'Another answer.'
  })

  test('an answer that starts over after text went out ends with an error', async () => {
    const model = wrapped(line, mockModel(line.version, [hello]), lamellaMiddleware([replaced]))

    await expect(askModel(line, 'streamed', { model, prompt: 'Hi' })).rejects.toMatchObject({
      code: 'stream_restarted',
    })
  })

  test('an answer that is held until it is complete may start over', async () => {
    const list = lamellaMiddleware([replaced], { release: 'full' })
    const model = wrapped(line, mockModel(line.version, [hello]), list)

    const { text } = await askModel(line, 'streamed', { model, prompt: 'Hi' })

    expect(text).toBe('Another answer.')
  })

  test('a stream that broke off is an error, behind what had arrived', async () => {
    const cut = { ...hello, rest: [] }
    const model = wrapped(line, mockModel(line.version, [cut]), lamellaMiddleware([passing]))
    const parts: { readonly type: string; readonly error?: unknown }[] = []
    const result = line.ai.streamText({ model, prompt: 'Hi', onError: () => {} })

    for await (const part of result.fullStream) parts.push(part)

    expect(parts.map(({ type }) => type)).toContain('text-delta')
    expect(parts.find(({ type }) => type === 'error')?.error).toMatchObject({
      kind: 'truncated_stream',
    })
  })

  test('leaving the stream cancels the model', async () => {
    let cancelled = false
    const { model } = mockModel(line.version, [hello])
    const endless = Object.assign(Object.create(model) as object, {
      doStream: async () => ({
        stream: new ReadableStream({
          pull: (to) => to.enqueue({ type: 'text-delta', id: '0', delta: 'on ' }),
          cancel: () => {
            cancelled = true
          },
        }),
      }),
    })
    const { stream } = await lamellaMiddleware([passing]).wrapStream({
      model: endless as never,
      params: { prompt: [] },
      doStream: () => Promise.resolve({ stream: new ReadableStream<unknown>() }),
    })

    const reader = stream.getReader()
    await reader.read()
    await reader.cancel()

    expect(cancelled).toBe(true)
  })
})

describe('construction', () => {
  const onTools = functionMiddleware('on-tools', async (_, callNext) => callNext())

  test('refuses what cannot run there, by name', () => {
    expect(() => lamellaMiddleware([onTools])).toThrow(
      /"on-tools" is of level function.*toolMiddleware/,
    )
    expect(() => lamellaMiddleware([{ ...onTools, level: 'agent' } as never])).toThrow(/aiSdk/)
    expect(() => lamellaMiddleware(['pii'] as never)).toThrow(/`level`, `name` and `process`/)
    expect(() => lamellaMiddleware([], { relese: 'full' } as never)).toThrow(/`relese`.*`release`/)
    expect(() => lamellaMiddleware([], { release: 'some' as never })).toThrow(/release/)
  })

  test('leaves middleware for tools out where it is told to', () => {
    expect(lamellaMiddleware([onTools], { toolMiddleware: 'ignore' })).toHaveProperty('wrapStream')
  })
})

type Options = Parameters<(typeof aiLines)[number]['ai']['generateText']>[0]

async function nameOfError({ ai }: (typeof aiLines)[number], options: Options): Promise<unknown> {
  const error: unknown = await ai.generateText(options).catch((failure: unknown) => failure)
  return error instanceof Error ? error.name : error
}

async function lastType({ ai }: (typeof aiLines)[number], options: Options): Promise<unknown> {
  const types: string[] = []
  const { fullStream } = ai.streamText(options)
  for await (const { type } of fullStream) types.push(type)
  return types.at(-1)
}

/** Without what is of one call alone. */
function settled(calls: readonly Readonly<Record<string, unknown>>[]): unknown {
  return calls.map(({ abortSignal: _signal, headers: _headers, ...rest }) => {
    const fields = Object.entries(rest).filter(([, value]) => value !== undefined)
    return Object.fromEntries(fields)
  })
}
