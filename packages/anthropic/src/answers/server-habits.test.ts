import { describeHabits, wordsOf } from '../../../../tests/provider-harness/describe-habits.ts'
import { messagesSse } from '../../fixtures/messages-recording.ts'
import { answerHabits } from '../../fixtures/server-habits.ts'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

describeHabits({
  habits: answerHabits,
  sent: ({ sse, events, body }) =>
    sse ?? (events ? messagesSse(events) : { whole: body as object }),
  open: ({ url: baseURL }, { dialect }) =>
    new AnthropicChatClient({ apiKey: 'test-key', baseURL, model: 'm', dialect }),
  seen(contents) {
    const thoughts = contents.flatMap((each) => (each.type === 'reasoning' ? [each] : []))
    return {
      thought: thoughts.map((each) => each.text).join(''),
      thoughts: thoughts.length,
      sealed: thoughts[0]?.protected,
    }
  },
  failed: (error) => ({ words: wordsOf(error) }),
})
