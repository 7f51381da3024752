import { describeMocked } from '../../../tests/provider-harness/against-aimock.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

const model = 'claude-sonnet-5-5'

describeMocked([
  {
    api: 'Messages',
    model,
    open: (baseURL, apiKey) => new AnthropicChatClient({ apiKey, baseURL, model }),
    usage: { input_tokens: 11, output_tokens: 5 },
    errors: { limited: { type: 'rate_limit_error' }, overloaded: { type: 'overloaded_error' } },
  },
])
