import { createRequire } from 'node:module'
import type { Message } from '@lamella/core'
import {
  Agent,
  chatMiddleware,
  isProviderError,
  message,
  ProviderError,
  tool,
  visibleHistory,
  withMiddleware,
} from '@lamella/core'
import {
  assertChunkInvariant,
  callFunction,
  describeContract,
  middlewareContract,
  runChatMiddleware,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { call, result, say, talk } from '../turns/conversation.test-helper.ts'
import type { HistoryEvent, HistoryTruncatorOptions } from '../index.ts'
import { ContextOverflowError, historyTruncator, summarizer } from '../index.ts'

// Its types need those of browsers.
const require = createRequire(import.meta.url)
const { encode } = require('gpt-tokenizer/encoding/o200k_base') as {
  encode: (text: string) => number[]
}

const notice = 'Earlier messages of this conversation are not shown.'
const words = (messages: readonly Message[] = []) =>
  messages.map(({ contents }) => (contents[0] as { text?: string }).text ?? contents[0]!.type)
const tooLong = () =>
  new ProviderError('too long', { kind: 'context_length', provider: 'scripted' })

async function send(
  messages: readonly Message[],
  options: HistoryTruncatorOptions = {},
  more: Parameters<typeof runChatMiddleware>[1] = {},
) {
  const events: HistoryEvent[] = []
  const middleware = historyTruncator({ onEvent: (event) => events.push(event), ...options })
  const run = await runChatMiddleware(middleware, { input: messages, ...more })
  return { ...run, sent: run.innerCalls[0]?.messages ?? [], reported: events }
}

describe.each([
  { mode: 'plain', stream: false },
  { mode: 'streamed', stream: true },
])('a history, $mode', ({ stream }) => {
  it('within the limit passes as it is', async () => {
    const messages = [...talk(14), say('user', 'now')]
    const { sent, innerCalls, reported } = await send(messages, {}, { stream })

    expect(sent).toEqual(messages)
    expect(innerCalls[0]!.instructions).toBeUndefined()
    expect(reported).toEqual([])
  })

  it('is cut to the newest thirty messages by default, and system messages stay', async () => {
    const messages = [say('system', 'rules'), ...talk(20), say('user', 'now')]
    const { sent, innerCalls, reported } = await send(
      messages,
      {},
      { stream, instructions: 'Be brief.' },
    )

    expect(words(sent).slice(0, 2)).toEqual(['rules', 'question 6'])
    expect(sent).toHaveLength(30)
    expect(innerCalls[0]!.instructions).toBe(`Be brief.\n\n${notice}`)
    expect(reported).toMatchObject([{ action: 'cut', messagesBefore: 42, messagesAfter: 30 }])
  })

  it('is cut between whole turns only, so that no call loses its result', async () => {
    const messages = [
      say('user', 'old'),
      say('assistant', [call('a'), call('b')]),
      say('tool', result('a')),
      say('tool', result('b')),
      say('assistant', 'done'),
      ...talk(1),
      say('user', 'now'),
    ]
    const { sent } = await send(messages, { maxMessages: 6 }, { stream })

    expect(words(sent)).toEqual(['question 0', 'answer 0', 'now'])
  })

  it('is cut by tokens, of which instructions and tools take their share', async () => {
    const messages = [...talk(20), say('user', 'now')]
    const tools = [tool({ name: 'work', description: 'x '.repeat(100) })]
    const limits = { maxTokens: 200, countTokens: (text: string) => text.length / 4 }
    const without = await send(messages, limits, { stream })
    const beside = await send(messages, limits, { stream, options: { tools } })

    expect(without.sent.length).toBeLessThan(messages.length)
    expect(beside.sent.length).toBeLessThan(without.sent.length)
    expect(without.reported[0]!.tokens).toBeLessThanOrEqual(200)
  })

  it('keeps the current run whole, however long it is', async () => {
    const rounds = Array.from({ length: 10 }, (_, n) => [
      say('assistant', call(`c${n}`)),
      say('tool', result(`c${n}`)),
    ]).flat()
    const { sent } = await send(
      [...talk(5), say('user', 'now'), ...rounds],
      { maxMessages: 8 },
      { stream },
    )

    expect(sent).toHaveLength(21)
    expect(words(sent)[0]).toBe('now')
  })

  it('gives up old calls of the current run where that is allowed', async () => {
    const rounds = Array.from({ length: 10 }, (_, n) => [
      say('assistant', call(`c${n}`)),
      say('tool', result(`c${n}`)),
    ]).flat()
    const options = { maxMessages: 8, keep: { currentRun: false } }
    const { sent } = await send([...talk(5), say('user', 'now'), ...rounds], options, { stream })

    expect(words(sent)[0]).toBe('now')
    expect(sent).toHaveLength(7)
    expect(sent.at(-1)).toEqual(rounds.at(-1))
  })

  it('keeps a thought with what it led to, also where it is a message of its own', async () => {
    const rounds = ['c1', 'c2'].flatMap((id) => [
      say('assistant', { type: 'reasoning', text: `thought of ${id}` }),
      say('assistant', call(id)),
      say('tool', result(id)),
    ])
    const options = { maxMessages: 6, keep: { currentRun: false } }
    const { sent } = await send([say('user', 'now'), ...rounds], options, { stream })

    expect(words(sent)).toEqual(['now', 'thought of c2', 'function-call', 'function-result'])
  })

  it('is valid in every call of a long run with tools', async () => {
    const steps = Array.from({ length: 12 }, (_, n) => callFunction('work', { n }, `c${n}`))
    const client = scriptedClient([...steps, 'Done.'])
    const work = tool({ name: 'work', description: '', execute: () => 'x'.repeat(200) })
    const middleware = historyTruncator({
      maxTokens: 300,
      calibrate: false,
      keep: { currentRun: false },
    })
    const agent = new Agent({ client, tools: [work], middleware: middleware })
    const session = agent.createSession({ messages: talk(10) })
    const response = stream
      ? await agent.run('now', { session, stream }).finalResponse()
      : await agent.run('now', { session })

    expect(response.text).toBe('Done.')
    expect(client.requests).toHaveLength(13)
    for (const { messages } of client.requests.slice(4)) {
      expect(words(messages)[0]).toBe('now')
      expect(visibleHistory(messages)).toEqual(messages)
      expect(messages.length).toBeLessThan(14)
    }
    expect(client.requests.at(-1)!.messages.length).toBeGreaterThan(2)
  })

  it('keeps the first question and what is pinned, with the question before it', async () => {
    const messages = [...talk(10), say('user', 'now')]
    const pinned = ({ contents }: Message) => (contents[0] as { text: string }).text === 'answer 4'
    const { sent } = await send(
      messages,
      { maxMessages: 5, keep: { firstUser: true, pinned } },
      { stream },
    )

    expect(words(sent)).toEqual(['question 0', 'question 4', 'answer 4', 'now'])
  })

  it('that cannot be made to fit fails before the model is called', async () => {
    const { error, innerCalls, reported } = await send(
      [...talk(3), say('user', 'word '.repeat(500))],
      { maxTokens: 100 },
      { stream },
    )

    expect(error).toBeInstanceOf(ContextOverflowError)
    expect(isProviderError(error) && error.kind).toBe('context_length')
    expect(error).toMatchObject({ limit: 100 })
    const { needed, largest } = error as ContextOverflowError
    expect(needed).toBeGreaterThan(100)
    expect(largest).toBeGreaterThan(100)
    expect(innerCalls).toEqual([])
    expect(reported).toMatchObject([{ action: 'overflow' }])
  })

  it('gives up old results of tools before anything is cut', async () => {
    const messages = [
      say('user', 'old'),
      say('assistant', call('a', 'search')),
      say('tool', result('a', 'found '.repeat(200))),
      say('assistant', [call('b', 'note')]),
      say('tool', result('b', 'noted')),
      say('assistant', 'done'),
      say('user', 'now'),
    ]
    const { sent, reported } = await send(
      messages,
      { maxTokens: 200, clearResults: { keep: 1, placeholder: '[cleared]' } },
      { stream },
    )

    expect(sent).toHaveLength(7)
    expect(JSON.stringify(sent)).toContain('[cleared]')
    expect(JSON.stringify(sent)).toContain('noted')
    expect(JSON.stringify(sent)).not.toContain('found')
    expect(reported).toMatchObject([{ action: 'clear' }])
  })

  it('that the provider finds too long is cut once more, and only once', async () => {
    const messages = [...talk(10), say('user', 'now')]
    const once = await send(messages, {}, { stream, replies: [tooLong(), 'Good.'] })
    const twice = await send(messages, {}, { stream, replies: [tooLong(), tooLong()] })

    expect(once.result?.text).toBe('Good.')
    expect(once.innerCalls[1]!.messages.length).toBeLessThan(messages.length)
    expect(once.response?.attempts).toMatchObject([{ status: 'failed', reason: 'context_length' }])
    expect(twice.innerCalls).toHaveLength(2)
    expect(twice.error).toBeInstanceOf(ContextOverflowError)
    expect((twice.error as Error).cause).toMatchObject({ message: 'too long' })
  })

  it('is not sent again when part of the answer has reached the caller', async () => {
    const replies = [
      { updates: [{ contents: [{ type: 'text' as const, text: 'Some ' }] }], error: tooLong() },
    ]
    const { innerCalls } = await send(talk(9), {}, { stream, replies })

    expect(innerCalls).toHaveLength(stream ? 1 : 2)
  })

  it('of which nothing can be cut is not sent again', async () => {
    const replies = [tooLong()]
    const { innerCalls, error } = await send([say('user', 'now')], {}, { stream, replies })
    const off = await send(talk(9), { onContextLength: false }, { stream, replies: [tooLong()] })

    expect(innerCalls).toHaveLength(1)
    expect(error).toBeInstanceOf(ContextOverflowError)
    expect(off.error).toMatchObject({ message: 'too long' })
  })

  it('is only reported on in shadow mode', async () => {
    const messages = [...talk(20), say('user', 'now')]
    const { sent, reported } = await send(messages, { mode: 'shadow' }, { stream })

    expect(sent).toEqual(messages)
    expect(reported).toMatchObject([{ action: 'cut', messagesAfter: 29 }])
  })

  it('of a session is cut for the call, and for good only where that is wanted', async () => {
    const lengths: number[] = []
    for (const persist of [false, true]) {
      const agent = new Agent({
        client: scriptedClient(() => 'Fine.'),
        middleware: historyTruncator({ maxMessages: 6, persist }),
      })
      const session = agent.createSession({ messages: talk(10) })
      if (stream) await agent.run('now', { session, stream }).finalResponse()
      else await agent.run('now', { session })
      lengths.push(session.messages.length)
    }

    expect(lengths).toEqual([22, 6])
  })

  it.each(
    ['truncator', 'persisting truncator', 'summarizer'].flatMap((kind) => [
      [kind, { approval: 'always' as const, execute: () => 'paid' }, true] as const,
      [kind, {}, 'paid'] as const,
    ]),
  )(
    'keeps a result that the model has not read, however old its call is: %s, %o',
    async (kind, options, answer) => {
      const middleware =
        kind === 'summarizer'
          ? summarizer({ client: scriptedClient(() => 'Short.'), maxMessages: 6, keepMessages: 2 })
          : historyTruncator({ maxMessages: 6, persist: kind !== 'truncator' })
      const pay = tool({ name: 'pay', description: '', ...options })
      let calls = 0
      const client = scriptedClient(() =>
        calls++ === 0 ? ['I will pay.', callFunction('pay', {}, 'c1')] : `answer ${calls}`,
      )
      const agent = new Agent({ client, tools: [pay], middleware })
      const session = agent.createSession()
      const play = async (input: string | [], answers = {}) =>
        stream
          ? agent.run(input, { session, answers, stream }).finalResponse()
          : agent.run(input, { session, answers })
      const { pending } = await play('Pay.')
      for (const turn of ['one', 'two', 'three', 'four']) await play(turn)

      await play([], { [answer === true ? pending[0]!.id : 'c1']: answer })

      const sent = client.requests.at(-1)!.messages
      const at = sent.findIndex(({ contents }) =>
        contents.some(({ type }) => type === 'function-call'),
      )
      expect(sent[at + 1]?.contents).toMatchObject([{ callId: 'c1', contents: [{ text: 'paid' }] }])
      expect(visibleHistory(sent)).toEqual(sent)
    },
  )

  it('keeps the question of a run when a middleware outside asks again', async () => {
    const again = chatMiddleware('again', async (context, callNext) => {
      await callNext()
      context.messages = [
        ...context.messages,
        say('assistant', 'bad'),
        message('user', 'Try again.'),
      ]
      await callNext()
    })
    const client = scriptedClient(['bad', 'good'])
    const agent = new Agent({ client, middleware: [again, historyTruncator({ maxMessages: 3 })] })
    const session = agent.createSession({ messages: talk(3) })
    if (stream) await agent.run('now', { session, stream }).finalResponse()
    else await agent.run('now', { session })

    expect(words(client.requests[1]?.messages)).toEqual(['now', 'bad', 'Try again.'])
  })

  it('is cut by what the provider reported for earlier calls of the model', async () => {
    const reply = { messages: 'Fine.', usage: { inputTokens: 680 } }
    const middleware = historyTruncator({ maxTokens: 500 })
    const sizes: number[] = []
    for (let run = 0; run < 2; run++) {
      const { innerCalls } = await runChatMiddleware(middleware, {
        input: [...talk(25), say('user', 'now')],
        replies: [reply],
        stream,
      })
      sizes.push(innerCalls[0]!.messages.length)
    }

    expect(sizes[0]).toBe(51)
    expect(sizes[1]).toBeLessThan(40)
  })

  it('of a thousand runs at once is each its own', async () => {
    const middleware = historyTruncator({ maxMessages: 3 })
    const runs = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        runChatMiddleware(middleware, { input: [...talk(2), say('user', `now ${n}`)], stream }),
      ),
    )

    expect(
      runs.every(({ innerCalls }, n) => words(innerCalls[0]!.messages).at(-1) === `now ${n}`),
    ).toBe(true)
  })
})

describe('the middleware', () => {
  it.each([
    [{ maxMessages: 0 }, 'maxMessages'],
    [{ maxTokens: 1.5 }, 'maxTokens'],
    [{ headroom: 1 }, 'headroom'],
    [{ notice: 1 }, 'notice'],
    [{ onContextLength: 2 }, 'onContextLength'],
    [{ countTokens: 'gpt' }, 'countTokens'],
    [{ keep: { pinned: 1 } }, 'keep.pinned'],
    [{ keep: { firstUser: 1 } }, 'keep.firstUser'],
    [{ clearResults: { keep: -1 } }, 'clearResults.keep'],
    [{ clearResults: { exclude: 'work' } }, 'clearResults.exclude'],
    [{ clearResults: { placeholder: 1 } }, 'clearResults.placeholder'],
    [{ persist: 'yes' }, 'persist'],
    [{ mode: 'on' }, 'mode'],
  ])('refuses %j when it is made', (options, name) => {
    expect(() => historyTruncator(options as never)).toThrow(`historyTruncator: \`${name}\``)
  })

  it('counts with a tokenizer', async () => {
    const countTokens = (text: string) => encode(text).length
    const { reported } = await send([...talk(50), say('user', 'now')], {
      maxTokens: 300,
      countTokens,
    })

    expect(reported[0]!.tokens).toBeLessThanOrEqual(300)
  })

  it('works around a client alone', async () => {
    const client = scriptedClient(['Fine.'])
    const wrapped = withMiddleware(client, historyTruncator({ maxMessages: 3 }))

    await wrapped.getResponse([...talk(5), say('user', 'now')])

    expect(words(client.requests[0]?.messages)).toEqual(['question 4', 'answer 4', 'now'])
  })

  it('tells middlewares how many messages there were', async () => {
    let metadata: Record<string, unknown> = {}
    const probe = chatMiddleware('probe', async (context, callNext) => {
      await callNext()
      metadata = context.metadata
    })
    await runChatMiddleware([probe, historyTruncator({ maxMessages: 3 })], {
      input: [...talk(3), say('user', 'now')],
    })

    expect(metadata).toMatchObject({ originalMessageCount: 7, prunedMessageCount: 4 })
  })

  it('gives the same however the answer is cut', async () => {
    await expect(
      assertChunkInvariant(() => historyTruncator(), {
        replies: ['Fine.', ['So:', callFunction('work', {}, 'c1')]],
      }),
    ).resolves.toBeUndefined()
  })
})

describeContract(middlewareContract({ create: () => historyTruncator({ maxTokens: 5000 }) }), {
  describe,
  it,
})
