import type { MessagesDialectName } from '../../packages/anthropic/src/index.ts'
import { AnthropicChatClient, messagesDialects } from '../../packages/anthropic/src/index.ts'
import type { AzureOpenAIApi } from '../../packages/azure-openai/src/index.ts'
import { AzureOpenAIChatClient } from '../../packages/azure-openai/src/index.ts'
import type { ChatClient } from '../../packages/core/src/index.ts'
import { GoogleChatClient } from '../../packages/google/src/index.ts'
import type { Recording } from '../../packages/openai/fixtures/responses-recording.ts'
import type {
  ChatDialect,
  ChatDialectName,
  ThinkingPolicy,
} from '../../packages/openai/src/index.ts'
import {
  chatDialects,
  OpenAIChatClient,
  OpenAIChatCompletionsClient,
} from '../../packages/openai/src/index.ts'
import type { Handler } from '../../packages/testing/src/raw-server.ts'
import { answer } from '../../packages/testing/src/raw-server.ts'
import { completionsProblems } from './swap-completions-rules.ts'
import { googleProblems } from './swap-google-rules.ts'
import { messagesProblems } from './swap-messages-rules.ts'
import type { Wire } from './swap-problems.ts'
import { wires } from './swap-problems.ts'
import type { Said } from './swap-recordings.ts'
import {
  completionsAnswer,
  googleAnswer,
  messagesAnswer,
  openMessagesAnswer,
  responsesAnswer,
} from './swap-recordings.ts'
import { responsesProblems } from './swap-responses-rules.ts'

/** One API that may begin or continue a conversation. */
export interface SwapProvider {
  readonly name: string
  /** In all that only this provider understands, and in nothing else. */
  readonly mark: string
  readonly model: string
  readonly open: (origin: string) => ChatClient
  readonly reply: (said: Said) => Handler
  readonly problems: (body: Wire) => readonly string[]
  /** False where requests hold no image. @default true */
  readonly hasImages?: boolean
  /** The system prompt of a request. */
  readonly system: (body: Wire) => unknown
  /** False where requests hold no GIF. @default true */
  readonly takesGif?: boolean
  /** Its answers hold an image of its own. */
  readonly draws?: true
  /** A request for a stream says so in its path. */
  readonly streamsByPath?: true
  /** It takes back nothing that only it understands. */
  readonly keepsNothing?: true
}

/** A server of one of the tables of dialects. */
export interface DialectProvider extends SwapProvider {
  readonly images: ChatDialect['images']
  readonly thinking: ThinkingPolicy
  /** Field of a request that holds `maxOutputTokens`. */
  readonly maxTokensField: string
}

/** Replies with a recording, whole or as a stream. */
function recorded(record: (said: Said) => Recording): (said: Said) => Handler {
  return (said) => {
    const { whole, sse } = record(said)
    return (response, request) => {
      const isStream = request.body.stream === true || request.path.includes('alt=sse')
      return answer(isStream ? sse : whole)(response, request)
    }
  }
}

const completions = {
  reply: recorded(completionsAnswer),
  problems: completionsProblems,
  system: (body: Wire) => wires(body['messages'])[0],
}
const responses: Pick<SwapProvider, 'reply' | 'problems' | 'system' | 'draws'> = {
  reply: recorded(responsesAnswer),
  draws: true,
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
  { ...messages('anthropic'), name: 'Anthropic' },
  {
    name: 'Google',
    mark: 'opaque-of-google-itself',
    model: 'gemini-3-flash',
    open: (baseURL) => new GoogleChatClient({ apiKey, baseURL, model: 'gemini-3-flash' }),
    reply: recorded(googleAnswer),
    problems: (body) => googleProblems(body, { isModern: true }),
    system: ({ systemInstruction }) => systemInstruction,
    takesGif: false,
    streamsByPath: true,
  },
  {
    name: 'Vertex AI',
    mark: 'opaque-of-vertex-ai',
    model: 'gemini-3-flash',
    open: (baseURL) =>
      new GoogleChatClient({
        vertex: { project: 'p', token: async () => apiKey },
        baseURL,
        model: 'gemini-3-flash',
      }),
    reply: recorded(googleAnswer),
    problems: (body) => googleProblems(body, { isModern: true, hasCallIds: false }),
    system: ({ systemInstruction }) => systemInstruction,
    takesGif: false,
    streamsByPath: true,
  },
  compatible('mistral'),
  compatible('deepseek'),
  messages('deepseek'),
  messages('ollama'),
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

function compatible(name: ChatDialectName): DialectProvider {
  const dialect = chatDialects[name]
  const { provider, images, maxTokensField, thinking } = dialect
  return {
    ...completions,
    name: `Chat Completions of ${name}`,
    mark: `opaque-of-completions-of-${provider}`,
    model,
    images,
    hasImages: images !== 'none',
    thinking,
    // The model is one of OpenAI's.
    maxTokensField: maxTokensField === 'auto' ? 'max_completion_tokens' : maxTokensField,
    open: (origin) =>
      new OpenAIChatCompletionsClient({ apiKey, baseURL: `${origin}/v1`, model, dialect }),
    problems: (body) => completionsProblems(body, dialect),
  }
}

/** The name of the server differs from that of the Chat Completions client: thinking of one goes to the other. */
function messages(name: MessagesDialectName): DialectProvider {
  const { unsignedThinking, provider, files, ...habits } = messagesDialects[name]
  const dialect = {
    ...habits,
    unsignedThinking,
    files,
    provider: unsignedThinking ? `${provider}-messages` : provider,
  }
  const ofServer = unsignedThinking ? model : 'claude-sonnet-5-5'
  return {
    name: `Messages of ${name}`,
    mark: `opaque-of-messages-of-${provider}`,
    model: ofServer,
    images: files ? 'any' : 'none',
    hasImages: files,
    thinking: 'always',
    maxTokensField: 'max_tokens',
    open: (baseURL) => new AnthropicChatClient({ apiKey, baseURL, model: ofServer, dialect }),
    reply: recorded(unsignedThinking ? openMessagesAnswer : messagesAnswer),
    problems: (body) => messagesProblems(body, dialect),
    system: ({ system }) => wires(system)[0],
  }
}

/** All presets of both tables. */
export const dialectProviders: readonly DialectProvider[] = [
  ...(Object.keys(chatDialects) as ChatDialectName[]).map(compatible),
  ...(Object.keys(messagesDialects) as MessagesDialectName[]).map(messages),
]

function azure(api: AzureOpenAIApi, endpoint: string): ChatClient {
  return new AzureOpenAIChatClient({ api, endpoint, apiKey, deployment: model })
}
