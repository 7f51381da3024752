import type { ChatResponse, Content } from '@lamella/core'
import { foldUpdates, isProviderError, tool } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionsSse } from '../../fixtures/completions-recording.ts'
import type { AnswerHabit } from '../../fixtures/server-habits.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

// Names that come in pieces are known by the tools of the request.
const weather = tool({ name: 'get_weather', description: '', execute: () => '' })

/** Reads an answer and describes it in the words of the table. */
async function read({ dialect, ...habit }: AnswerHabit, size: number): Promise<object> {
  const { chunks, sse, body, status } = habit
  const text = sse ?? (chunks && completionsSse(chunks))
  server.handler = answer(text ?? (body as string | object), {
    size,
    ...(status !== undefined && { status }),
    ...(text === undefined && { headers: { 'content-type': 'application/json' } }),
  })
  const client = new OpenAIChatCompletionsClient({
    apiKey: 'test-key',
    baseURL: server.baseURL,
    model: 'm',
    dialect,
  })
  const request = clientRequest('Hi', { transportRetries: 0, tools: [weather] })
  try {
    return summary(
      text === undefined
        ? await client.respond(request)
        : foldUpdates(await collect(client.stream(request))),
    )
  } catch (error) {
    if (!isProviderError(error)) throw error
    const { kind, retry, cause } = error
    return { kind, ...retry, words: cause instanceof Error ? cause.message : undefined }
  }
}

function summary({ text, functionCalls, messages, usage, finishReason }: ChatResponse): object {
  const contents = messages.flatMap((message): readonly Content[] => message.contents)
  return {
    text,
    calls: functionCalls.map((call) => `${call.name}(${call.arguments})`),
    thought: contents.map((each) => (each.type === 'reasoning' ? each.text : '')).join(''),
    files: contents.flatMap((each) => {
      if (each.type === 'data') return `${each.mediaType} ${String(each.data)}`
      return each.type === 'uri' ? `${each.mediaType} ${each.uri}` : []
    }),
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

test('the table names each habit once and knows sixty of them', () => {
  expect(new Set(answerHabits.map(({ habit }) => habit)).size).toBe(answerHabits.length)
  expect(answerHabits.length).toBeGreaterThanOrEqual(60)
})
