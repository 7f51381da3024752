import { AnthropicChatClient } from '../packages/anthropic/src/index.ts'
import type { AzureOpenAIApi } from '../packages/azure-openai/src/index.ts'
import { AzureOpenAIChatClient } from '../packages/azure-openai/src/index.ts'
import type { ChatClient } from '../packages/core/src/index.ts'
import type { Recording } from '../packages/openai/fixtures/responses-recording.ts'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '../packages/openai/src/index.ts'
import { completionsProblems } from './swap-completions-rules.ts'
import { messagesProblems } from './swap-messages-rules.ts'
import type { Wire } from './swap-problems.ts'
import { wires } from './swap-problems.ts'
import type { Said } from './swap-recordings.ts'
import { completionsAnswer, messagesAnswer, responsesAnswer } from './swap-recordings.ts'
import { responsesProblems } from './swap-responses-rules.ts'

/** One API that a conversation may begin with or go on with. */
export interface SwapProvider {
  readonly name: string
  /** In all that only this provider understands, and in nothing else. */
  readonly mark: string
  readonly model: string
  readonly open: (origin: string) => ChatClient
  readonly answer: (said: Said) => Recording
  readonly problems: (body: Wire) => readonly string[]
  /** The system prompt of a request. */
  readonly system: (body: Wire) => unknown
}

const completions = {
  answer: completionsAnswer,
  problems: completionsProblems,
  system: (body: Wire) => wires(body['messages'])[0],
}
const responses = {
  answer: responsesAnswer,
  problems: responsesProblems,
  system: (body: Wire) => body['instructions'],
}
const apiKey = 'test-key'
// Of one provider and one model: what must not pass is told by the API alone.
const model = 'gpt-5-mini'

export const providers: readonly SwapProvider[] = [
  {
    name: 'OpenAI Responses',
    mark: 'opaque-of-openai-responses',
    model,
    open: (origin) => new OpenAIChatClient({ apiKey, baseURL: `${origin}/v1`, model }),
    ...responses,
  },
  {
    name: 'OpenAI Chat Completions',
    mark: 'opaque-of-openai-completions',
    model,
    open: (origin) => new OpenAIChatCompletionsClient({ apiKey, baseURL: `${origin}/v1`, model }),
    ...completions,
  },
  {
    name: 'Anthropic',
    mark: 'opaque-of-anthropic',
    model: 'claude-sonnet-5-5',
    open: (origin) =>
      new AnthropicChatClient({ apiKey, baseURL: origin, model: 'claude-sonnet-5-5' }),
    answer: messagesAnswer,
    problems: messagesProblems,
    system: ({ system }) => wires(system)[0],
  },
  {
    name: 'Azure Chat Completions',
    mark: 'opaque-of-azure-completions',
    model,
    open: (origin) => azure('chat', origin),
    ...completions,
  },
  {
    name: 'Azure Responses',
    mark: 'opaque-of-azure-responses',
    model,
    open: (origin) => azure('responses', origin),
    ...responses,
  },
]

function azure(api: AzureOpenAIApi, endpoint: string): ChatClient {
  return new AzureOpenAIChatClient({ api, endpoint, apiKey, deployment: model })
}
