import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { AgentResponseUpdate, Message } from '../index.ts'
import { Agent, text, textOf } from '../index.ts'

const history = (length: number): readonly Message[] =>
  Array.from({ length }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    contents: [{ type: 'text', text: 'Hello.' }],
  }))

/** The quickest of three runs with a history of this length, in milliseconds. */
async function timeOf(length: number): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const agent = new Agent({ client: scriptedClient(['Hello.']) })
    const input = history(length)
    const start = performance.now()
    await agent.run(input)
    times.push(performance.now() - start)
  }
  return Math.min(...times)
}

test('the time of a run grows with its history, and not with the square of it', async () => {
  await timeOf(1000)

  const [short, long] = [await timeOf(2000), await timeOf(16_000)]

  // 64 would be the square. Collections of garbage add to the longer one.
  expect(long / short).toBeLessThan(40)
})

test('input does not take the id of a message of its session', async () => {
  const agent = new Agent({ client: scriptedClient(['Hello.']) })
  const session = agent.createSession({ messages: history(2) })

  await agent.run(history(1), { session })

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
