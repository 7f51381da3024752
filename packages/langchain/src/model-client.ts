import type { AIMessage, AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import type { ChatRequest, ChatResponse, ChatResponseUpdate, FinishReason } from '@lamella/core'
import {
  BaseChatClient,
  chatResponse,
  isProviderError,
  ProviderError,
  toUpdates,
} from '@lamella/core'
import { isNetworkError, recordOf, verdictOfStatus } from '@lamella/transport'
import type { Conversation } from './message-contents.ts'
import { contentsOf } from './message-contents.ts'

/** A chat model of LangChain, with or without tools bound to it. */
export interface InnerModel {
  invoke(messages: BaseMessage[], options?: object): Promise<AIMessage>
  stream(messages: BaseMessage[], options?: object): Promise<AsyncIterable<AIMessageChunk>>
  bindTools?(tools: never, kwargs?: never): InnerModel
}

/** One call of a model of LangChain, as the middleware inside makes it once or more often. */
export class ModelClient extends BaseChatClient {
  readonly provider: string
  /** Answer of the last request. */
  last: AIMessage | AIMessageChunk | undefined
  readonly #inner: InnerModel
  readonly #conversation: Conversation
  readonly #options: object

  readonly #streams: boolean

  constructor(
    inner: InnerModel,
    conversation: Conversation,
    { streams, ...options }: { readonly streams: boolean },
  ) {
    const { ls_provider: provider, ls_model_name: model } = factsOf(inner)
    super({ model: typeof model === 'string' ? model : undefined })
    this.provider = typeof provider === 'string' ? provider : 'langchain'
    this.#inner = inner
    this.#streams = streams
    this.#conversation = conversation
    // LangChain's stream must not see what the middleware has not passed.
    this.#options = { ...options, callbacks: [], tags: ['nostream', 'langsmith:nostream'] }
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    try {
      this.last = await this.#inner.invoke(this.#messagesOf(request), this.#callOptions(request))
    } catch (error) {
      throw this.#failure(error, request)
    }
    return chatResponse({
      messages: [{ role: 'assistant', contents: contentsOf(this.last) }],
      ...endOf(this.last),
    })
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatResponseUpdate, void, undefined> {
    if (!this.#streams) {
      yield* toUpdates(await this.respond(request))
      return
    }
    let whole: AIMessageChunk | undefined
    try {
      const chunks = await this.#inner.stream(this.#messagesOf(request), this.#callOptions(request))
      for await (const chunk of chunks) {
        whole = whole === undefined ? chunk : whole.concat(chunk)
        const words = contentsOf(chunk).filter(
          ({ type }) => type === 'text' || type === 'reasoning',
        )
        if (words.length > 0) yield { contents: words }
      }
    } catch (error) {
      throw this.#failure(error, request)
    }
    if (whole === undefined) return
    this.last = whole
    const rest = contentsOf(whole).filter(({ type }) => type !== 'text' && type !== 'reasoning')
    yield { contents: rest, ...endOf(whole) }
  }

  #messagesOf({ messages, instructions }: ChatRequest): BaseMessage[] {
    return this.#conversation.back(messages, instructions)
  }

  #callOptions({ signal }: ChatRequest): object {
    return { ...this.#options, signal }
  }

  /** An error of the provider with its kind, by which middleware retries. What is none stays as it is. */
  #failure(error: unknown, { signal }: ChatRequest): unknown {
    if (signal.aborted || isProviderError(error)) return error
    const { status } = recordOf(error)
    const { provider } = this
    if (typeof status === 'number') {
      const { kind } = verdictOfStatus(status)
      return new ProviderError(`${provider}: the call failed with status ${status}`, {
        kind,
        provider,
        status,
        cause: error,
      })
    }
    if (!isNetworkError(error)) return error
    return new ProviderError(`${provider}: the connection failed`, {
      kind: 'network',
      provider,
      cause: error,
    })
  }
}

/** A client of runs that make their calls with others. */
export const nobody: BaseChatClient = new (class extends BaseChatClient {
  readonly provider = 'langchain'

  async respond(): Promise<ChatResponse> {
    return chatResponse('')
  }

  async *stream(): AsyncGenerator<ChatResponseUpdate, void, undefined> {}
})()

interface Counted {
  readonly usage_metadata?: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly total_tokens: number
  }
}

function endOf(message: AIMessage | AIMessageChunk): Pick<ChatResponse, 'usage' | 'finishReason'> {
  const { usage_metadata: usage } = message as unknown as Counted
  const facts: Readonly<Record<string, unknown>> = message.response_metadata
  const reasons = [facts['finish_reason'], facts['stop_reason'], facts['finishReason']]
  const reason = reasons.find((one) => typeof one === 'string') ?? ''
  const finishReason = finishReasons[reason.toLowerCase()]
  return {
    usage: {
      ...(usage !== undefined && {
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        totalTokens: usage.total_tokens,
      }),
    },
    ...(finishReason !== undefined && { finishReason }),
  }
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  __proto__: null as never,
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'content-filter',
  safety: 'content-filter',
  refusal: 'content-filter',
}

/** Provider and model, as LangChain names them for its traces. */
function factsOf(inner: InnerModel): Readonly<Record<string, unknown>> {
  const { bound } = inner as { readonly bound?: InnerModel }
  const model = (bound ?? inner) as { getLsParams?(options: object): object }
  return recordOf(model.getLsParams?.({}))
}
