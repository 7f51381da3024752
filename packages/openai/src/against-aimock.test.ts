import { describeMocked } from '../../../tests/provider-harness/against-aimock.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

const model = 'gpt-5-mini'
const errors = {
  limited: { type: 'requests', code: 'rate_limit_exceeded' },
  overloaded: { type: 'server_error' },
}

describeMocked([
  {
    api: 'Responses',
    model,
    open: (url, apiKey) => new OpenAIChatClient({ apiKey, baseURL: `${url}/v1`, model }),
    usage: { input_tokens: 11, output_tokens: 5, total_tokens: 16 },
    errors,
  },
  {
    api: 'Chat Completions',
    model,
    open: (url, apiKey) => new OpenAIChatCompletionsClient({ apiKey, baseURL: `${url}/v1`, model }),
    usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 },
    errors,
  },
])
