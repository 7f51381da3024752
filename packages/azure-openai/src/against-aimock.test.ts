import { describeMocked } from '../../../tests/provider-harness/against-aimock.ts'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

const deployment = 'gpt-5-mini'

describeMocked(
  ([undefined, 'v1'] as const).flatMap((apiVersion) =>
    (['chat', 'responses'] as const).map((api) => ({
      api: `${api}, version ${apiVersion},`,
      model: deployment,
      open: (endpoint, apiKey) =>
        new AzureOpenAIChatClient({ api, apiVersion, endpoint, apiKey, deployment }),
      usage:
        api === 'responses'
          ? { input_tokens: 11, output_tokens: 5, total_tokens: 16 }
          : { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 },
      errors: { limited: { type: 'requests' }, overloaded: { type: 'server_error' } },
    })),
  ),
)
