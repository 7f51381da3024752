import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, FunctionCallContent, Message } from '../index.ts'
import { Agent, functionMiddleware, jsonSchema, tool } from '../index.ts'
import type { ScriptedStep } from '@lamella/testing'
import { modes, outline, play, resultsOf } from './loop-invariant.test-helper.ts'

describe.each(modes)('the loop, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const lookup = tool({
      name: 'lookup',
      description: 'Looks a word up.',
      parameters: jsonSchema({ type: 'object', properties: { word: { type: 'string' } } }),
      execute: ({ word }) => {
        ran.push(String(word))
        return `about ${String(word)}`
      },
    })
    return { client, ran, agent: new Agent({ client, tools: [lookup], ...options }) }
  }

  const look = (word: string, id: string): FunctionCallContent =>
    callFunction('lookup', { word }, id)

  it('an answer without calls is one model call', async () => {
    const { agent, client } = make(['Hello.'])

    const { response } = await play(agent, 'Hi', { stream })

    expect(response).toMatchObject({ status: 'completed', text: 'Hello.', finishReason: 'stop' })
    expect(client.requests).toHaveLength(1)
  })

  it('a call runs once, and its result leads to the answer', async () => {
    const { agent, client, ran } = make([look('cat', 'c1'), 'A cat.'])

    const { response } = await play(agent, 'What is a cat?', { stream })

    expect(outline(response.messages)).toEqual([
      'assistant: lookup(c1)',
      'tool: c1 = about cat',
      'assistant: A cat.',
    ])
    expect(response).toMatchObject({ status: 'completed', text: 'A cat.', pending: [] })
    expect(ran).toEqual(['cat'])
    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: What is a cat?',
      'assistant: lookup(c1)',
      'tool: c1 = about cat',
    ])
    client.assertDone()
  })

  it('two rounds give five messages with their pairs intact', async () => {
    const { agent, client } = make([look('a', 'c1'), look('b', 'c2'), 'Done.'])

    const { response } = await play(agent, 'Both', { stream })

    expect(outline(response.messages)).toEqual([
      'assistant: lookup(c1)',
      'tool: c1 = about a',
      'assistant: lookup(c2)',
      'tool: c2 = about b',
      'assistant: Done.',
    ])
    expect(client.requests[2]!.messages).toHaveLength(5)
  })

  it('two calls of one answer both run, with results in call order in one message', async () => {
    const { agent, ran } = make([[look('a', 'c1'), look('b', 'c2')], 'Done.'])

    const { response } = await play(agent, 'Both', { stream })

    expect(outline(response.messages)[1]).toBe('tool: c1 = about a, c2 = about b')
    expect(ran).toEqual(['a', 'b'])
  })

  it('an argument that is null arrives as null, one that is left out does not arrive', async () => {
    const got: unknown[] = []
    const note = tool({
      name: 'note',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { a: { type: ['string', 'null'] }, b: { type: 'string' } },
      }),
      execute: (args) => void got.push(args),
    })
    const { agent } = make([callFunction('note', { a: null }, 'c1'), 'Done.'], { tools: [note] })

    await play(agent, 'Go', { stream })

    expect(got).toEqual([{ a: null }])
  })

  it('usage is the sum of all rounds; id, model and finish reason are of the last', async () => {
    const { agent } = make([
      {
        messages: look('a', 'c1'),
        usage: { inputTokens: 1, totalTokens: 2 },
        id: 'r1',
        model: 'm1',
      },
      { messages: 'Done.', usage: { inputTokens: 10, reasoningTokens: 3 }, id: 'r2', model: 'm2' },
    ])

    const { response } = await play(agent, 'Go', { stream })

    expect(response.usage).toEqual({ inputTokens: 11, totalTokens: 12, reasoningTokens: 3 })
    expect(response).toMatchObject({ id: 'r2', model: 'm2', finishReason: 'stop' })
  })

  it('calls spread over several messages of one answer run once each', async () => {
    const said = (id: string, call: FunctionCallContent): Message => ({
      id,
      role: 'assistant',
      contents: [call],
    })
    const { agent, ran } = make([
      { messages: [said('m1', look('a', 'c1')), said('m2', look('b', 'c2'))] },
      'Done.',
    ])

    const { response } = await play(agent, 'Both', { stream })

    expect(ran).toEqual(['a', 'b'])
    expect(outline(response.messages)).toEqual([
      'assistant: lookup(c1)',
      'assistant: lookup(c2)',
      'tool: c1 = about a, c2 = about b',
      'assistant: Done.',
    ])
  })

  it('a call that is only informational is returned and not executed, nor asked to be approved', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ran' })
    const shown = { ...callFunction('gated', {}, 'c1'), informational: true }
    const { agent, client } = make([[shown, 'The server did it.']], { tools: [gated] })

    const { response } = await play(agent, 'Go', { stream })

    expect(response).toMatchObject({ status: 'completed', pending: [] })
    expect(response.functionCalls).toEqual([shown])
    expect(resultsOf(response.messages)).toEqual([])
    expect(client.requests).toHaveLength(1)
  })

  it('of an informational and a real call only the real one executes', async () => {
    const { agent, ran } = make([
      [{ ...look('seen', 'c1'), informational: true }, look('done', 'c2')],
      'Done.',
    ])

    const { response } = await play(agent, 'Go', { stream })

    expect(ran).toEqual(['done'])
    expect(resultsOf(response.messages).map(({ callId }) => callId)).toEqual(['c2'])
  })

  it('a call that came with its result is not executed', async () => {
    const { agent, ran, client } = make([
      {
        messages: [
          { role: 'assistant', contents: [look('a', 'c1')] },
          { role: 'tool', contents: [{ type: 'function-result', callId: 'c1', contents: [] }] },
          { role: 'assistant', contents: 'Done.' },
        ],
      },
    ])

    const { response } = await play(agent, 'Go', { stream })

    expect(ran).toEqual([])
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(client.requests).toHaveLength(1)
  })

  it('calls with one id in one answer run each, but the same call comes only once', async () => {
    const calls = [look('a', 'same'), look('b', 'same'), look('a', 'same')]
    const { agent, ran } = make([calls, 'Done.'])

    const { response } = await play(agent, 'Go', { stream })

    expect(ran).toEqual(['a', 'b'])
    expect(outline(response.messages)).toEqual([
      expect.stringMatching(/^assistant: lookup\(same\), lookup\(call_.+\), lookup\(call_.+\)$/),
      expect.stringMatching(/^tool: same = about a, call_.+ = about b, call_.+ = about a$/),
      'assistant: Done.',
    ])
  })

  it('calls with one id in one answer ask for approval each', async () => {
    const paid: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: '',
      approval: 'always',
      execute: ({ to }) => (paid.push(to), `paid ${String(to)}`),
    })
    const calls = ['Ada', 'Bob'].map((to) => callFunction('pay', { to }, 'same'))
    const agent = new Agent({ client: scriptedClient([calls, 'Done.']), tools: [pay] })
    const session = agent.createSession()
    const { response: paused } = await play(agent, 'Go', { stream, session })
    const [ada, bob] = paused.pending.map(({ id }) => id)
    await play(agent, [], { stream, session, answers: { [bob!]: true } })

    await play(agent, [], { stream, session, answers: { [ada!]: false } })

    expect(paid).toEqual(['Bob'])
    expect(session.pending).toEqual([])
  })

  it('an id that comes again in a later round is a call of its own', async () => {
    const { agent, ran, client } = make([look('a', 'same'), look('b', 'same'), 'Done.'])

    const { response } = await play(agent, 'Go', { stream })

    expect(ran).toEqual(['a', 'b'])
    expect(resultsOf(response.messages)).toHaveLength(2)
    expect(client.requests[2]!.messages).toHaveLength(5)
  })

  it('with `enabled: false` a call is returned unexecuted after one model call', async () => {
    const { agent, client, ran } = make([look('a', 'c1')])

    const response = stream
      ? await agent.run('Go', { functionInvocation: { enabled: false }, stream }).finalResponse()
      : await agent.run('Go', { functionInvocation: { enabled: false } })

    expect(response).toMatchObject({ status: 'completed', finishReason: 'tool-calls' })
    expect(response.functionCalls).toHaveLength(1)
    expect(resultsOf(response.messages)).toEqual([])
    expect(ran).toEqual([])
    expect(client.requests[0]!.options.tools).toHaveLength(1)
  })

  it('fields of a call are on its result too, with function middlewares and without', async () => {
    const call = { ...look('a', 'c1'), metadata: { item: 7 } }
    const middleware = functionMiddleware('pass', async (_, callNext) => void (await callNext()))
    const bare = make([call, 'Done.'])
    const wrapped = make([call, 'Done.'], { middleware: [middleware] })

    const results = await Promise.all(
      [bare, wrapped].map(async ({ agent }) => (await play(agent, 'Go', { stream })).response),
    )

    for (const { messages } of results) {
      expect(resultsOf(messages)[0]).toMatchObject({
        callId: 'c1',
        name: 'lookup',
        metadata: { item: 7 },
      })
    }
  })

  it('what the caller passed is left as it was', async () => {
    const { agent } = make([look('a', 'c1'), 'Done.'])
    const input: Message[] = [{ id: 'u1', role: 'user', contents: [{ type: 'text', text: 'Go' }] }]
    const options = { temperature: 0.5 }
    const before = structuredClone({ input, options })

    await play(agent, input, { options, stream })

    expect({ input, options }).toEqual(before)
  })

  it('a run without tools answers a call as one to an unknown tool', async () => {
    const { agent } = make([look('a', 'c1'), 'Done.'], { tools: [] })

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)[1]).toBe('tool: c1 = unknown_tool')
  })

  it('one agent serves runs side by side', async () => {
    const client = scriptedClient(({ messages }) =>
      messages.length === 1 ? look(`${outline(messages)[0]}`, 'c1') : `${outline(messages)[0]}!`,
    )
    const { agent } = make([], { client })

    const played = await Promise.all(['a', 'b', 'c'].map((input) => play(agent, input, { stream })))

    expect(played.map(({ response }) => response.text)).toEqual([
      'user: a!',
      'user: b!',
      'user: c!',
    ])
    expect(played.map(({ response }) => resultsOf(response.messages).length)).toEqual([1, 1, 1])
  })
})

describe('the updates of a streamed run', () => {
  it('are the call, one update with all results, then the text', async () => {
    const client = scriptedClient([
      [callFunction('a', {}, 'c1'), callFunction('a', {}, 'c2')],
      'Done.',
    ])
    const a = tool({ name: 'a', description: '', execute: () => 'ok' })

    const { updates } = await play(new Agent({ client, tools: [a] }), 'Go', { stream: true })

    const withContent = updates.filter(({ contents }) => contents.length > 0)
    const kinds = withContent.map(({ contents }) => contents.map(({ type }) => type).join('+'))
    const at = kinds.indexOf('function-result+function-result')
    expect(kinds.slice(0, at).every((kind) => kind.includes('function-call'))).toBe(true)
    expect(kinds.slice(at + 1).every((kind) => kind === 'text')).toBe(true)
  })

  it('end with a final response of reasoning, call, result and text', async () => {
    const client = scriptedClient([
      [{ type: 'reasoning', text: 'Hm.' }, callFunction('a', {}, 'c1')],
      'Done.',
    ])
    const a = tool({ name: 'a', description: '', execute: () => 'ok' })

    const { response } = await play(new Agent({ client, tools: [a] }), 'Go', { stream: true })

    const types = response.messages.map(({ contents }) => contents.map(({ type }) => type))
    expect(types).toEqual([['reasoning', 'function-call'], ['function-result'], ['text']])
  })
})
