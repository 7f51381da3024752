import { describeNoLeaks } from '../../../tests/provider-harness/no-leaks.ts'
import { completionsRecording } from '../fixtures/completions-recording.ts'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'The Douro flows.', annotations: [] }],
}
const apis = [
  { api: 'Responses', Client: OpenAIChatClient, recording: responsesRecording([item]) },
  {
    api: 'Chat Completions',
    Client: OpenAIChatCompletionsClient,
    recording: completionsRecording({ content: 'The Douro flows.' }),
  },
]
const error = { error: { message: 'No.', type: 'server_error' } }

describeNoLeaks(
  apis.map(({ api, Client, recording }) => ({
    api,
    recording,
    open: (url, timeouts) =>
      new Client({ apiKey: 'test-key', baseURL: `${url}/v1`, model: 'm', ...timeouts }),
    error,
    errorEvent: `data: ${JSON.stringify(error)}\n\n`,
  })),
)
