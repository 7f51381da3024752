import type { ChatResponse, Content } from '@lamella/core'
import { foldUpdates, isProviderError } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messagesSse } from '../../fixtures/messages-recording.ts'
import type { AnswerHabit } from '../../fixtures/server-habits.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

/** Reads an answer and describes it in the words of the table. */
async function read({ dialect, ...habit }: AnswerHabit, size: number): Promise<object> {
  const { events, sse, body, status } = habit
  const text = sse ?? (events && messagesSse(events))
  server.handler = answer(text ?? (body as object), {
    size,
    ...(status !== undefined && { status }),
  })
  const client = new AnthropicChatClient({
    apiKey: 'test-key',
    baseURL: server.url,
    model: 'm',
    dialect,
  })
  try {
    return summary(
      text === undefined
        ? await client.respond(clientRequest())
        : foldUpdates(await collect(client.stream(clientRequest()))),
    )
  } catch (error) {
    if (!isProviderError(error)) throw error
    const { kind, cause } = error
    return { kind, words: cause instanceof Error ? cause.message : undefined }
  }
}

function summary({ text, functionCalls, messages, usage, finishReason }: ChatResponse): object {
  const contents = messages.flatMap((message): readonly Content[] => message.contents)
  const thoughts = contents.flatMap((each) => (each.type === 'reasoning' ? [each] : []))
  return {
    text,
    calls: functionCalls.map((call) => `${call.name}(${call.arguments})`),
    thought: thoughts.map((each) => each.text).join(''),
    thoughts: thoughts.length,
    sealed: thoughts[0]?.protected,
    usage,
    finishReason,
  }
}

describe('a habit of a server is read as it is meant', () => {
  test.each(answerHabits.map((habit) => [habit.habit, habit.source, habit] as const))(
    '%s (%s)',
    async (_name, _source, habit) => {
      expect(await read(habit, 0)).toMatchObject(habit.expected)
      expect(await read(habit, 1)).toMatchObject(habit.expected)
    },
  )
})

test('the table names each habit once', () => {
  expect(new Set(answerHabits.map(({ habit }) => habit)).size).toBe(answerHabits.length)
})
