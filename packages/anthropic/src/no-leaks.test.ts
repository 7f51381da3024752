import { describeNoLeaks } from '../../../tests/provider-harness/no-leaks.ts'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

const error = { type: 'error', error: { type: 'api_error', message: 'No.' } }

describeNoLeaks([
  {
    api: 'Messages',
    recording: messagesRecording([{ type: 'text', text: 'The Douro flows.', citations: null }]),
    open: (url, timeouts) =>
      new AnthropicChatClient({ apiKey: 'k', baseURL: url, model: 'm', ...timeouts }),
    error,
    errorEvent: `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  },
])
