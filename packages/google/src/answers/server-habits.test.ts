import { describeHabits } from '../../../../tests/provider-harness/describe-habits.ts'
import { googleSse } from '../../fixtures/google-recording.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { GoogleChatClient } from '../google-chat-client.ts'

describeHabits({
  habits: answerHabits,
  sent: ({ events, body }) => (events ? googleSse(events) : { whole: body as object }),
  open: ({ url: baseURL }) =>
    new GoogleChatClient({ apiKey: 'k', baseURL, model: 'gemini-3-flash' }),
  seen: (contents, { functionCalls }) => ({
    ids: new Set(functionCalls.map(({ callId }) => callId)).size,
    sealed: contents.flatMap((each) => (each.type === 'reasoning' ? [each.protected] : [])),
  }),
  failed: ({ retry, partial, message }) => ({
    retryable: retry.retryable,
    partial: partial?.text,
    words: /\((\w+)\)/.exec(message)?.[1],
  }),
})
