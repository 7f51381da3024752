import { tool } from '@lamella/core'
import { clientRequest } from '@lamella/testing'
import { describeHabits, wordsOf } from '../../../../tests/provider-harness/describe-habits.ts'
import { completionsSse } from '../../fixtures/completions-recording.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

// Names that come in pieces are known by the tools of the request.
const weather = tool({ name: 'get_weather', description: '', execute: () => '' })

describeHabits({
  habits: answerHabits,
  least: 60,
  sent: ({ sse, chunks, body }) =>
    sse ?? (chunks ? completionsSse(chunks) : { whole: body as string | object }),
  open: ({ baseURL }, { dialect }) =>
    new OpenAIChatCompletionsClient({ apiKey: 'test-key', baseURL, model: 'm', dialect }),
  request: () => clientRequest('Hi', { transportRetries: 0, tools: [weather] }),
  seen: (contents) => ({
    thought: contents.map((each) => (each.type === 'reasoning' ? each.text : '')).join(''),
    files: contents.flatMap((each) => {
      if (each.type === 'data') return `${each.mediaType} ${String(each.data)}`
      return each.type === 'uri' ? `${each.mediaType} ${each.uri}` : []
    }),
  }),
  failed: (error) => ({ ...error.retry, words: wordsOf(error) }),
})
