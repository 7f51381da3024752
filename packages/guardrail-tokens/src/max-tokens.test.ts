import type {
  AgentResponse,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  Tool,
} from '@lamella/core'
import {
  Agent,
  BaseChatClient,
  createSession,
  foldUpdates,
  jsonSchema,
  message,
  messageText,
  text,
  tool,
} from '@lamella/core'
import { callFunction, collect, scriptedClient } from '@lamella/testing'
import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { maxTokens } from './max-tokens.ts'
import type { MaxTokensOptions, TokenEvent } from './max-tokens-options.ts'

const words = (count: number): string =>
  Array.from({ length: count }, (_, at) => `w${at % 10}`).join(' ')

/** A token for each word. */
const countTokens = (value: string): number => value.split(/\s+/).filter(Boolean).length

interface Ran {
  readonly response: AgentResponse
  readonly client: ScriptedClient
  readonly events: readonly TokenEvent[]
}

async function run(
  options: MaxTokensOptions,
  setup: {
    input?: string
    steps?: readonly ScriptedStep[]
    tools?: readonly Tool[]
    stream?: boolean
  } = {},
): Promise<Ran> {
  const { input = 'Hello', steps = ['Fine.'], tools = [], stream = false } = setup
  const events: TokenEvent[] = []
  const client = scriptedClient(steps)
  const middleware = maxTokens({ ...options, onEvent: (event) => events.push(event) })
  const agent = new Agent({ client, tools, middleware })
  const response = stream
    ? await agent.run(input, { stream: true }).finalResponse()
    : await agent.run(input)
  return { response, client, events: events.filter(({ status }) => status !== 'passed') }
}

describe('input', () => {
  test('without any option 4096 tokens are allowed, and one more is not', async () => {
    const fits = await run({ countTokens }, { input: words(4092) })
    const exceeds = await run({ countTokens }, { input: words(4093) })

    expect(fits.response.status).toBe('completed')
    expect(exceeds.client.requests).toHaveLength(0)
    expect(exceeds.response.block).toEqual({
      guardrail: 'tokens',
      level: 'chat',
      stage: 'input',
      category: 'max_input_tokens',
      message: 'The input has 4097 tokens, and 4096 are allowed.',
    })
    expect(exceeds.events).toEqual([
      {
        guardrail: 'tokens',
        stage: 'input',
        status: 'blocked',
        category: 'max_input_tokens',
        tokens: 4097,
        limit: 4096,
        method: 'exact',
      },
    ])
  })

  test('an estimate says that it is one', async () => {
    const { response, events } = await run(
      { maxInputTokens: 10, encoding: 'estimate' },
      { input: words(40) },
    )

    expect(response.text).toMatch(/^The input has about \d+ tokens, and 10 are allowed\.$/)
    expect(events[0]?.method).toBe('estimate')
  })

  test('instructions, tools and the schema of the answer count', async () => {
    const client = scriptedClient(() => 'Fine.')
    const described = tool({ name: 'work', description: words(100) })
    const make = (more: object) =>
      new Agent({ client, middleware: maxTokens({ maxInputTokens: 90, countTokens }), ...more })
    const schema = jsonSchema({ type: 'object', description: words(100) })

    expect((await make({}).run('Hi')).status).toBe('completed')
    expect((await make({ instructions: words(100) }).run('Hi')).status).toBe('blocked')
    expect((await make({ tools: [described] }).run('Hi')).status).toBe('blocked')
    const asked = make({}).run('Hi', { options: { responseFormat: { schema } } })
    expect((await asked).status).toBe('blocked')
  })

  test('the oldest turns are left out where that is asked for, calls with their results', async () => {
    const client = scriptedClient(['Fine.'])
    const call = callFunction('look', { at: words(10) }, 'c1')
    const session = createSession({
      messages: [
        message('user', words(20)),
        message('assistant', call),
        message('tool', { type: 'function-result', callId: 'c1', contents: [text(words(20))] }),
        message('assistant', 'Seen.'),
        message('user', 'And?'),
        message('assistant', 'Nothing.'),
      ],
    })
    const middleware = maxTokens({ maxInputTokens: 40, countTokens, onExceed: 'truncate' })

    const response = await new Agent({ client, middleware, instructions: 'Be kind.' }).run('So?', {
      session,
    })

    expect(response.status).toBe('completed')
    expect(client.requests[0]?.messages.map(messageText)).toEqual(['And?', 'Nothing.', 'So?'])
    expect(session.messages).toHaveLength(8)
  })

  test('a last turn that is too long by itself is blocked all the same', async () => {
    const options = { maxInputTokens: 40, countTokens, onExceed: { input: 'truncate' } } as const

    const { response } = await run(options, { input: words(60) })

    expect(response.block?.category).toBe('max_input_tokens')
  })

  test('a limit may depend on the call', async () => {
    const window = { small: 20, large: 200 } as Record<string, number>
    const middleware = maxTokens({
      maxInputTokens: ({ options }) => window[options.model ?? ''] ?? 0,
      countTokens,
    })
    const agent = new Agent({ client: scriptedClient(() => 'Fine.'), middleware })

    const statuses = ['small', 'large', 'unknown'].map(async (model) => {
      const { status } = await agent.run(words(50), { options: { model } })
      return status
    })

    expect(await Promise.all(statuses)).toEqual(['blocked', 'completed', 'blocked'])
  })
})

describe.each([false, true])('output, streamed: %s', (stream) => {
  test('the provider is told the limit, unless it was told less', async () => {
    const options = { maxOutputTokens: 30, countTokens }
    const client = scriptedClient(() => 'Fine.')
    const agent = new Agent({ client, middleware: maxTokens(options) })

    for (const maxOutputTokens of [undefined, 50, 10]) {
      const running = agent.run('Hi', { options: { maxOutputTokens }, stream: true })
      await running.finalResponse()
    }

    expect(client.requests.map((request) => request.options.maxOutputTokens)).toEqual([30, 30, 10])
  })

  test('what is longer all the same is cut at a word, and the response says so', async () => {
    const { response, events } = await run(
      { maxOutputTokens: 5, countTokens },
      { steps: ['one two three four five six seven'], stream },
    )

    expect(response.text).toBe('one two three four five')
    expect(response).toMatchObject({
      status: 'completed',
      finishReason: 'length',
      metadata: { cutBy: 'tokens' },
    })
    expect(events).toMatchObject([
      { stage: 'output', status: 'replaced', category: 'max_output_tokens', limit: 5 },
    ])
  })

  test('calls that begin behind the cut are none', async () => {
    const { response } = await run(
      { maxOutputTokens: 2, countTokens },
      { steps: [['one two three', callFunction('work')]], stream },
    )

    expect(response.text).toBe('one two')
    expect(response.status).toBe('completed')
  })

  test('an answer that is too long can be a block', async () => {
    const options = { maxOutputTokens: 5, countTokens, onExceed: { output: 'block' } } as const

    const { response, client } = await run(options, { steps: [words(6)], stream })

    expect(response.block).toMatchObject({ stage: 'output', category: 'max_output_tokens' })
    expect(response.text).not.toContain('w1')
    expect(client.requests[0]?.options.maxOutputTokens).toBeUndefined()
  })

  test('what the input leaves of a total is for the output', async () => {
    const { client, response } = await run(
      { maxTotalTokens: 20, countTokens },
      { input: words(10), steps: [words(30)], stream },
    )
    const full = await run({ maxTotalTokens: 20, countTokens }, { input: words(16), stream })

    expect(client.requests[0]?.options.maxOutputTokens).toBe(6)
    expect(countTokens(response.text)).toBe(6)
    expect(full.response.block?.category).toBe('max_input_tokens')
  })

  test('in the shadow everything passes, and is reported', async () => {
    const { response, events, client } = await run(
      { maxInputTokens: 5, maxOutputTokens: 5, countTokens, mode: 'shadow' },
      { input: words(10), steps: [words(10)], stream },
    )

    expect(response.text).toBe(words(10))
    expect(client.requests[0]?.options.maxOutputTokens).toBeUndefined()
    expect(events.map(({ status, stage }) => `${status} ${stage}`)).toEqual([
      'shadow input',
      'shadow output',
    ])
  })
})

test('an endless stream that ignores the limit is ended', async () => {
  let made = 0
  const client = scriptedClient(['unused'])
  const endless = Object.assign(Object.create(client), {
    async *stream() {
      for (;;) {
        made++
        yield { contents: [text('word ')] }
      }
    },
  })
  const agent = new Agent({
    client: endless,
    middleware: maxTokens({ maxOutputTokens: 50, countTokens }),
  })

  const response = await agent.run('Continue', { stream: true }).finalResponse()

  expect(countTokens(response.text)).toBe(50)
  expect(response.finishReason).toBe('length')
  expect(made).toBeLessThan(1000)
})

describe('one text alone', () => {
  const work = (result: string) => {
    const received: unknown[] = []
    const made = tool({
      name: 'work',
      description: 'Works.',
      execute: (args) => {
        received.push(args)
        return result
      },
    })
    return { made, received }
  }

  test('a message that is too long is blocked, or truncated', async () => {
    const blocked = await run({ maxMessageTokens: 5, countTokens }, { input: words(6) })
    const cut = await run(
      { maxMessageTokens: 5, countTokens, onExceed: 'truncate' },
      { input: words(6) },
    )

    expect(blocked.response.block).toMatchObject({
      guardrail: 'tokens-texts',
      category: 'max_message_tokens',
      message: 'The message has 6 tokens, and 5 are allowed.',
    })
    expect(messageText(cut.client.requests[0]!.messages[0]!)).toBe('w0 w1 w2 w3…')
  })

  test('arguments that are too long are given back to the model, or are a block', async () => {
    const { made, received } = work('Done.')
    const steps = [callFunction('work', { text: words(20) }), 'I gave up.']
    const options = { maxToolArgumentsTokens: 5, countTokens }

    const rejected = await run(options, { steps, tools: [made] })
    const blocked = await run({ ...options, onExceed: 'block' }, { steps, tools: [made] })

    expect(received).toEqual([])
    expect(rejected.response.text).toBe('I gave up.')
    expect(JSON.stringify(rejected.client.requests[1]?.messages.at(-1))).toContain(
      'The arguments have 20 tokens, and 5 are allowed.',
    )
    expect(blocked.response.block).toMatchObject({ stage: 'arguments' })
  })

  test('a result that is too long is truncated, or is a block', async () => {
    const steps = [callFunction('work'), 'Thanks.']
    const { made } = work(words(20))
    const options = { maxToolResultTokens: 5, countTokens }

    const cut = await run({ ...options, suffix: ' [cut]' }, { steps, tools: [made] })
    const blocked = await run({ ...options, onExceed: 'block' }, { steps, tools: [made] })

    expect(JSON.stringify(cut.client.requests[1]?.messages.at(-1))).toContain('"w0 w1 w2 w3 [cut]"')
    expect(blocked.response.block).toMatchObject({ stage: 'result', category: 'max_result_tokens' })
  })
})

describe('counting', () => {
  test('is exact for models whose vocabulary is known, and an estimate for others', async () => {
    const methods: Record<string, string | undefined> = {}
    for (const model of [
      'gpt-4o-mini',
      'gpt-4-turbo',
      'openai/gpt-5.2',
      'o3',
      'claude-sonnet-5-5',
    ]) {
      const client = scriptedClient([], { model })
      const events: TokenEvent[] = []
      const onEvent = (event: TokenEvent) => events.push(event)
      const middleware = maxTokens({ maxInputTokens: 6, onEvent })
      await new Agent({ client, middleware }).run('one two three four five')
      methods[model] = events[0]?.method
    }

    expect(methods).toEqual({
      'gpt-4o-mini': 'exact',
      'gpt-4-turbo': 'exact',
      'openai/gpt-5.2': 'exact',
      o3: 'exact',
      'claude-sonnet-5-5': 'estimate',
    })
  })

  test('an estimate learns from what the provider reports', async () => {
    const usage = { inputTokens: 120, outputTokens: 1, totalTokens: 121 }
    const client = scriptedClient(() => ({ messages: 'Fine.', usage }))
    const events: TokenEvent[] = []
    const onEvent = (event: TokenEvent) => events.push(event)
    const middleware = maxTokens({ maxInputTokens: 100, encoding: 'estimate', onEvent })
    const agent = new Agent({ client, middleware })

    // About 60 by the estimate, and 120 by the provider's own count.
    const first = await agent.run(words(28))
    const second = await agent.run(words(28))

    expect(first.status).toBe('completed')
    expect(second.status).toBe('blocked')
    expect(events[0]).toMatchObject({ method: 'estimate', tokens: expect.closeTo(120, -1) })
  })
})

describe('as any middleware', () => {
  test('when counting fails, `onError` decides', async () => {
    const broken = () => {
      throw new Error('no dictionary')
    }

    const closed = await run({ maxInputTokens: 5, countTokens: broken })
    const open = await run({ maxInputTokens: 5, countTokens: broken, onError: 'open' })

    expect(closed.response.block?.category).toBe('guardrail_error')
    expect(open.response.text).toBe('Fine.')
    expect(open.events.map(({ status }) => status)).toEqual(['error'])
  })

  test('`when` says for which calls it works', async () => {
    const { response } = await run({ maxInputTokens: 1, when: () => false })

    expect(response.status).toBe('completed')
    expect(maxTokens({ mode: 'off' })).toEqual([])
  })

  test('its places in the order are known', () => {
    const middlewares = maxTokens({
      maxInputTokens: 1,
      maxMessageTokens: 1,
      maxToolResultTokens: 1,
    })

    expect(middlewares.map(({ level, name, role }) => `${level} ${name} ${role}`)).toEqual([
      'chat tokens tokens',
      'chat tokens-texts tokens',
      'function tokens-texts tokens',
    ])
  })

  test('a thousand runs at once stay apart', async () => {
    const client = scriptedClient(({ messages }) => messageText(messages[0]!))
    const middleware = maxTokens({ maxInputTokens: 100, maxOutputTokens: 3, countTokens })
    const agent = new Agent({ client, middleware })

    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, at) =>
        agent.run(at % 2 ? `run ${at} is cut here` : words(99)),
      ),
    )

    expect(
      all.every(({ status, text: said }, at) =>
        at % 2 ? said === `run ${at} is` : status === 'blocked',
      ),
    ).toBe(true)
  })
})

test.each<[MaxTokensOptions, RegExp]>([
  [{ maxInputTokens: 0 }, /maxTokens: `maxInputTokens` must be a whole number from 1 up, got 0/],
  [{ maxOutputTokens: 1.5 }, /`maxOutputTokens`.*got 1.5/],
  [{ maxMessageTokens: -1 }, /`maxMessageTokens`/],
  [{ onExceed: 'drop' as never }, /`onExceed` must be one of block, truncate, got "drop"/],
  [{ onExceed: { output: 'truncate' as never } }, /`onExceed.output` must be one of cap, block/],
  [{ encoding: 'gpt2' as never }, /`encoding`/],
  [{ countTokens: 4 as never }, /`countTokens` must be a function, got 4/],
])('wrong options are named: %o', (options, expected) => {
  expect(() => maxTokens(options)).toThrow(expected)
})

describe('an answer of several messages', () => {
  const call = (id: string) =>
    ({ type: 'function-call', callId: id, name: 'note', arguments: '{}' }) as const
  // Each message counts its calls from 0, as providers do.
  class TwoMessages extends BaseChatClient {
    readonly provider = 'two'
    requests = 0

    async respond(request: ChatRequest): Promise<ChatResponse> {
      return foldUpdates(await collect(this.stream(request)))
    }

    async *stream(_request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
      if (this.requests++ > 0) return yield { contents: [text('Done.')], messageId: 'last' }
      yield { contents: [{ ...call('first'), index: 0 }], messageId: 'a' }
      yield { contents: [text(words(50))], messageId: 'a' }
      yield { contents: [{ ...call('second'), index: 0 }], messageId: 'b', finishReason: 'stop' }
    }
  }

  test('runs no call of an answer that was cut, in either mode', async () => {
    const ran: string[][] = []
    for (const stream of [false, true]) {
      const ids: string[] = []
      const note = tool({
        name: 'note',
        description: 'Notes.',
        execute: (_args, { callId }) => void ids.push(callId),
      })
      const middleware = maxTokens({ maxOutputTokens: 10, countTokens })
      const agent = new Agent({ client: new TwoMessages(), tools: [note], middleware })
      if (stream) await agent.run('Hi', { stream: true }).finalResponse()
      else await agent.run('Hi')
      ran.push(ids)
    }

    expect(ran).toEqual([[], []])
  })
})
