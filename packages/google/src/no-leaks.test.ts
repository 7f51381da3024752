import { describeNoLeaks } from '../../../tests/provider-harness/no-leaks.ts'
import { googleRecording, googleSse } from '../fixtures/google-recording.ts'
import { GoogleChatClient } from './google-chat-client.ts'

const { whole, sse } = googleRecording([{ text: 'The Douro flows.' }])
const error = { error: { code: 500, status: 'INTERNAL', message: 'No.' } }

describeNoLeaks([
  {
    api: 'generateContent',
    recording: { whole, sse: sse.replaceAll('\r\n', '\n') },
    open: (url, timeouts) =>
      new GoogleChatClient({ apiKey: 'k', baseURL: url, model: 'm', ...timeouts }),
    error,
    errorEvent: googleSse([error]),
  },
])
