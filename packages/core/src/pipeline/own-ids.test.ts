import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { AgentResponseUpdate, Message, Role } from '../index.ts'
import { Agent, foldUpdates, text, textOf } from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'

const history = (length: number): readonly Message[] =>
  Array.from({ length }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    contents: [{ type: 'text', text: 'Hello.' }],
  }))

test('input does not take the id of a message of its session', async () => {
  const agent = new Agent({ client: scriptedClient(['Hello.']) })
  const session = agent.createSession({ messages: history(2) })

  await agent.run({ ...history(1)[0]!, contents: [text('Another.')] }, { session })

  expect(session.messages).toHaveLength(4)
  expect(new Set(session.messages.map(({ id }) => id)).size).toBe(4)
})

test('of messages under one id, those of the role that it had first keep it', async () => {
  const client = scriptedClient(['Hello.'])
  const agent = new Agent({ client })
  const say = (role: 'user' | 'assistant', words: string): Message => ({
    id: 'm',
    role,
    contents: [text(words)],
  })

  await agent.run([say('user', 'One.'), say('assistant', 'Two.'), say('user', 'Three.')])

  const ids = client.requests[0]!.messages.map(({ id }) => id)
  expect(ids).toEqual(['m', expect.stringMatching(/^msg_/), 'm'])
})

test('updates of another role under one id are another message', async () => {
  const said = (role: 'assistant' | 'tool', words: string): AgentResponseUpdate => ({
    messageId: 'm',
    role,
    contents: [text(words)],
  })
  const updates = [said('assistant', 'One.'), said('tool', 'Two.')]
  const agent = new Agent({ client: scriptedClient([{ updates }]) })

  const { messages } = await agent.run('Hello', { stream: true }).finalResponse()

  expect(messages.map(({ role, contents }) => [role, textOf(contents)])).toEqual([
    ['assistant', 'One.'],
    ['tool', 'Two.'],
  ])
  expect(messages.map(({ id }) => id)).toEqual(['m', expect.stringMatching(/^msg_/)])
})

type Said = readonly [id: string | undefined, words: string, role?: Role]

const own = expect.stringMatching(/^msg_/) as string
const streams: readonly (readonly [string, readonly Said[], readonly Said[]])[] = [
  [
    'without any id are one message',
    [
      [undefined, 'a'],
      [undefined, 'b', 'assistant'],
      ['', 'c'],
    ],
    [[own, 'abc', 'assistant']],
  ],
  [
    'without an id, but of a role, are one message of that role',
    [
      [undefined, 'a', 'tool'],
      [undefined, 'b', 'tool'],
      [undefined, 'c', 'assistant'],
    ],
    [
      [own, 'ab', 'tool'],
      [own, 'c', 'assistant'],
    ],
  ],
  [
    'without an id belong to the message before them',
    [
      ['m1', 'a'],
      [undefined, 'b'],
      ['m1', 'c'],
      ['m2', 'd'],
    ],
    [
      ['m1', 'abc', 'assistant'],
      ['m2', 'd', 'assistant'],
    ],
  ],
  [
    'whose id comes late are one message',
    [
      [undefined, 'a'],
      ['m1', 'b'],
      ['m1', 'c'],
    ],
    [[own, 'abc', 'assistant']],
  ],
  [
    'whose id comes with another role are two messages',
    [
      [undefined, 'a'],
      ['m1', 'b', 'tool'],
    ],
    [
      [own, 'a', 'assistant'],
      ['m1', 'b', 'tool'],
    ],
  ],
  [
    'of two messages in turn belong to the one that they name',
    [
      ['m1', 'a'],
      ['m2', 'b'],
      ['m1', 'c'],
      ['m1', 'd'],
    ],
    [
      ['m1', 'acd', 'assistant'],
      ['m2', 'b', 'assistant'],
    ],
  ],
]

test.each(streams)('updates %s', async (_, said, expected) => {
  const updates = said.map(([messageId, words, role]) => ({
    messageId,
    role,
    contents: [text(words)],
  }))

  const read = await readUpdates(new Agent({ client: scriptedClient([{ updates }]) }))

  const { messages } = read.response
  expect(messages.map(({ id, role, contents }) => [id, textOf(contents), role])).toEqual(expected)
  expect(foldUpdates(read.updates).messages).toEqual(messages)
})

test('no update has an id that the conversation has, not even one without content', async () => {
  const updates = [{ messageId: 'm1', contents: [text('Hi.')] }, { messageId: 'm1' }]
  const agent = new Agent({ client: scriptedClient([{ updates }]) })
  const session = agent.createSession({ messages: history(2) })

  const read = await readUpdates(agent, { session })

  expect(read.updates.map(({ messageId }) => messageId)).toEqual([own, own])
  expect(new Set(read.updates.map(({ messageId }) => messageId)).size).toBe(1)
})

test('a message whose id comes after its usage has it, streamed and plain', async () => {
  const updates: AgentResponseUpdate[] = [
    { contents: [{ type: 'usage', usage: { inputTokens: 1 } }] },
    { role: 'assistant', messageId: 'm1', contents: [text('Hello.')] },
    { contents: [], finishReason: 'stop' },
  ]
  const agent = new Agent({ client: scriptedClient([{ updates }, foldUpdates(updates)]) })

  const streamed = await agent.run('Hello', { stream: true }).finalResponse()
  const plain = await agent.run('Hello')

  expect([streamed, plain].map(({ messages }) => messages.map(({ id }) => id))).toEqual([
    ['m1'],
    ['m1'],
  ])
})
