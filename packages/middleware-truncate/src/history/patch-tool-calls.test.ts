import type { Content, Message } from '@lamella/core'
import { Agent, tool } from '@lamella/core'
import {
  callFunction,
  describeContract,
  middlewareContract,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { call, result, say } from '../turns/conversation.test-helper.ts'
import type { PatchEvent, PatchToolCallsOptions } from '../index.ts'
import { patchToolCalls } from '../index.ts'

const types = (messages: readonly Message[] = []) =>
  messages.map(({ contents }) => contents.map(({ type }) => type).join(' '))

describe.each([
  { mode: 'plain', stream: false },
  { mode: 'streamed', stream: true },
])('a call without a result, $mode', ({ stream }) => {
  const play = async (
    history: readonly Message[],
    options: PatchToolCallsOptions = {},
    input: readonly Message[] = [say('user', 'And now?')],
  ) => {
    const events: PatchEvent[] = []
    const client = scriptedClient(['Fine.'])
    const middleware = patchToolCalls({ onEvent: (event) => events.push(event), ...options })
    const agent = new Agent({ client, middleware })
    const session = agent.createSession({ messages: history })
    if (stream) await agent.run(input, { session, stream }).finalResponse()
    else await agent.run(input, { session })
    return { sent: client.requests[0]!.messages, session, events }
  }

  it('is shown to the model as cancelled when the user says something new', async () => {
    const { sent, session, events } = await play([say('user', 'Go'), say('assistant', call('a'))])

    expect(types(sent)).toEqual(['text', 'function-call', 'function-result', 'text'])
    expect(sent[2]!.contents[0]).toMatchObject({
      callId: 'a',
      name: 'work',
      error: { code: 'cancelled' },
    })
    expect(JSON.stringify(sent[2])).toContain('This call was cancelled')
    expect(types(session.messages)).toEqual([...types(sent), 'text'])
    expect(events).toEqual([{ middleware: 'patch', calls: 1 }])
  })

  it('gets its result beside those of the others of its batch', async () => {
    const history = [
      say('user', 'Go'),
      say('assistant', [call('a'), call('b')]),
      say('tool', result('a')),
    ]
    const { sent } = await play(history)

    expect(types(sent)).toEqual([
      'text',
      'function-call function-call',
      'function-result',
      'function-result',
      'text',
    ])
    expect(sent[3]!.contents[0]).toMatchObject({ callId: 'b' })
  })

  it('gets the result that you make', async () => {
    const { sent } = await play([say('user', 'Go'), say('assistant', call('a'))], {
      result: ({ name }) => `${name} did not run`,
    })

    expect(JSON.stringify(sent[2])).toContain('work did not run')
  })

  it('in the input is patched too, and one whose result the input brings is left alone', async () => {
    const whole = [say('user', 'Go'), say('assistant', call('a')), say('user', 'And now?')]
    const inInput = await play([], {}, whole)
    const brought = await play([say('user', 'Go')], {}, [
      say('assistant', call('a')),
      say('tool', result('a')),
      say('user', 'And now?'),
    ])

    expect(types(inInput.sent)).toEqual(['text', 'function-call', 'function-result', 'text'])
    expect(brought.events).toEqual([])
  })

  it('with an id that was used before is told from the one that has a result', async () => {
    const history = [
      say('user', 'Go'),
      say('assistant', call('a')),
      say('tool', result('a')),
      say('assistant', call('a')),
    ]
    const { sent, events } = await play(history)

    expect(events).toMatchObject([{ calls: 1 }])
    expect(types(sent).slice(3)).toEqual(['function-call', 'function-result', 'text'])
  })

  it('that the provider ran itself is none', async () => {
    const ran: Content = {
      type: 'function-call',
      callId: 'a',
      name: 'search',
      arguments: '{}',
      informational: true,
    }
    const { events } = await play([say('user', 'Go'), say('assistant', ran)])

    expect(events).toEqual([])
  })

  it('is only reported in shadow mode', async () => {
    const { session, events } = await play([say('user', 'Go'), say('assistant', call('a'))], {
      mode: 'shadow',
    })

    expect(events).toMatchObject([{ calls: 1 }])
    expect(types(session.messages)).toEqual(['text', 'function-call', 'text', 'text'])
  })

  it('that waits for an approval is left alone, and runs when that is given', async () => {
    const client = scriptedClient([callFunction('send', {}, 'c1'), 'Waiting.', 'Sent.'])
    const send = tool({ name: 'send', description: '', approval: 'always', execute: () => 'sent!' })
    const agent = new Agent({ client, tools: [send], middleware: patchToolCalls() })
    const session = agent.createSession()
    const run = async (input: string, answers = {}) =>
      stream
        ? agent.run(input, { session, stream, answers }).finalResponse()
        : agent.run(input, { session, answers })

    const paused = await run('Send it.')
    await run('Are you there?')
    const { id } = paused.pending[0]!
    const done = await run('Yes.', { [id]: true })

    expect(done.text).toBe('Sent.')
    expect(JSON.stringify(session.messages)).toContain('sent!')
    expect(JSON.stringify(session.messages)).not.toContain('cancelled')
  })

  it('that the caller runs is left alone, and gets the result that the caller gives later', async () => {
    const client = scriptedClient([callFunction('ask', {}, 'c1'), 'Waiting.', 'Thanks.', 'Blue.'])
    const ask = tool({ name: 'ask', description: '' })
    const agent = new Agent({ client, tools: [ask], middleware: patchToolCalls() })
    const session = agent.createSession()
    const run = async (input: string) =>
      stream ? agent.run(input, { session, stream }).finalResponse() : agent.run(input, { session })
    const paused = await run('Ask me.')
    await run('One moment.')

    await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: 'blue' }, { session })
    await run('Which colour?')

    const sent = JSON.stringify(client.requests.at(-1)!.messages)
    expect(sent).toContain('blue')
    expect(sent).not.toContain('cancelled')
  })

  it('of a paused run is left alone when that run is resumed', async () => {
    const client = scriptedClient([callFunction('ask', {}, 'c1'), 'Thanks.'])
    const ask = tool({ name: 'ask', description: '' })
    const agent = new Agent({ client, tools: [ask], middleware: patchToolCalls() })
    const session = agent.createSession()
    const paused = stream
      ? await agent.run('Ask me.', { session, stream }).finalResponse()
      : await agent.run('Ask me.', { session })
    const answers = { [paused.pending[0]!.id]: 'blue' }
    const done = await agent.resume(paused.checkpoint!, answers, { session })

    expect(done.text).toBe('Thanks.')
    expect(JSON.stringify(client.requests[1]!.messages)).toContain('blue')
    expect(JSON.stringify(session.messages)).not.toContain('cancelled')
  })
})

describe('the middleware', () => {
  it.each([
    [{ result: 'gone' }, 'result'],
    [{ mode: 'on' }, 'mode'],
    [{ when: true }, 'when'],
  ])('refuses %j when it is made', (options, name) => {
    expect(() => patchToolCalls(options as never)).toThrow(`patchToolCalls: \`${name}\``)
  })
})

describeContract(middlewareContract({ create: () => patchToolCalls() }), { describe, it })
