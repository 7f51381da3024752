import type { ChatResponse, Content } from '@lamella/core'
import { foldUpdates, isProviderError } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { googleSse } from '../../fixtures/google-recording.ts'
import type { AnswerHabit } from '../../fixtures/server-habits.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { GoogleChatClient } from '../google-chat-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

/** Reads an answer and describes it in the words of the table. */
async function read({ events, body }: AnswerHabit, size: number): Promise<object> {
  server.handler = answer(events ? googleSse(events) : (body as object), { size })
  const client = new GoogleChatClient({ apiKey: 'k', baseURL: server.url, model: 'gemini-3-flash' })
  try {
    return summary(
      events === undefined
        ? await client.respond(clientRequest())
        : foldUpdates(await collect(client.stream(clientRequest()))),
    )
  } catch (error) {
    if (!isProviderError(error)) throw error
    const { kind, retry, partial, message } = error
    return {
      kind,
      retryable: retry.retryable,
      partial: partial?.text,
      words: /\((\w+)\)/.exec(message)?.[1],
    }
  }
}

function summary({ text, functionCalls, messages, usage, finishReason }: ChatResponse): object {
  const contents = messages.flatMap((message): readonly Content[] => message.contents)
  return {
    text,
    calls: functionCalls.map((call) => `${call.name}(${call.arguments})`),
    ids: new Set(functionCalls.map(({ callId }) => callId)).size,
    sealed: contents.flatMap((each) => (each.type === 'reasoning' ? [each.protected] : [])),
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
