import { describeNoLeaks } from '../../../tests/provider-harness/no-leaks.ts'
import { chunk, completion, response, sse } from '../fixtures/azure-recordings.ts'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

const said = 'The Douro flows.'
const apis = [
  { api: 'responses', recording: response(said) },
  {
    api: 'chat',
    recording: {
      whole: completion({ message: { role: 'assistant', content: said } }),
      sse: sse([
        chunk({ role: 'assistant', content: 'The' }),
        chunk({ content: ' Douro flows.' }),
        chunk({}, { finish_reason: 'stop' }),
      ]),
    },
  },
] as const
const error = { error: { message: 'No.', type: 'server_error' } }

describeNoLeaks(
  apis.map(({ api, recording }) => ({
    api,
    recording,
    open: (url, timeouts) =>
      new AzureOpenAIChatClient({
        api,
        endpoint: url,
        apiKey: 'k',
        deployment: 'd',
        ...timeouts,
      }),
    error,
    errorEvent: `data: ${JSON.stringify(error)}\n\n`,
  })),
)
