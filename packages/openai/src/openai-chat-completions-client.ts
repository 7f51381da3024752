import type {
  Annotation,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  ContinuationReport,
  Message,
} from '@lamella/core'
import { BaseChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { OpenAI } from 'openai'
import type { MaxTokensField } from './completions-request.ts'
import { completionsBody, completionsHistory } from './completions-request.ts'
import { CompletionsUpdates } from './completions-updates.ts'
import type { OpenAICall } from './openai-call.ts'
import { callOptions, callStreamed, callWhole } from './openai-call.ts'
import type { Connection, OpenAIClientOptions } from './openai-connection.ts'
import { clientRules, connect } from './openai-connection.ts'
import type { PreparedHistory } from './prepare-history.ts'
import { prepareHistory } from './prepare-history.ts'

/** Options of `OpenAIChatCompletionsClient`. */
export interface OpenAIChatCompletionsClientOptions extends OpenAIClientOptions {
  /**
   * The field that `maxOutputTokens` is sent in. `'auto'` takes the new name for OpenAI's models and
   * the old one for all others.
   * @default 'auto'
   */
  readonly maxTokensField?: MaxTokensField | undefined
  /** Asks for usage at the end of a stream. Off for servers that refuse the field. @default true */
  readonly streamUsage?: boolean | undefined
}

/** Models through Chat Completions: OpenAI's, and those of every compatible server by `baseURL`. */
export class OpenAIChatCompletionsClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  readonly #maxTokensField: MaxTokensField
  readonly #streamUsage: boolean

  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIChatCompletionsClientOptions = {}) {
    checkOptions('OpenAIChatCompletionsClient', options, {
      ...clientRules,
      maxTokensField: 'any',
      streamUsage: 'any',
    })
    super(options)
    this.#connection = connect('OpenAIChatCompletionsClient', options)
    this.#maxTokensField = options.maxTokensField ?? 'auto'
    this.#streamUsage = options.streamUsage ?? true
    this.provider = this.#connection.provider
  }

  /** The API and the server. */
  get fingerprint(): string {
    return `chat ${this.#connection.server}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    return callWhole(this.#call(request))
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return callStreamed(this.#call(request), {
      stream: true,
      ...(this.#streamUsage && { stream_options: { include_usage: true } }),
    })
  }

  /** Makes any history valid for Chat Completions. Every call does so by itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#prepare(messages).messages
  }

  /** What of a history the server would not be sent, or only changed. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = this.#prepare(messages)
    return { ok: losses.length === 0, losses }
  }

  /** The body of a request. A subclass may add what its server knows besides. */
  protected requestBody(request: ChatRequest): Record<string, unknown> {
    const { model, own } = callOptions(request, this.#connection, this.model)
    const { provider } = this
    return completionsBody(request, own, { provider, model, maxTokensField: this.#maxTokensField })
  }

  /** What a subclass reads from a completion or a chunk, for the metadata of the answer. */
  protected metadataOf?(
    payload: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined

  /** What a subclass cites from a message, or from a piece of one. */
  protected annotationsOf?(message: Readonly<Record<string, unknown>>): readonly Annotation[]

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return prepareHistory(messages, { ...completionsHistory, provider, model, isContinued: false })
  }

  #call(request: ChatRequest): OpenAICall {
    return {
      connection: this.#connection,
      request,
      model: request.options.model ?? this.model,
      body: this.requestBody(request),
      replay: 'safe',
      unknownOptions: ['conversationId'],
      metadataOf: this.metadataOf?.bind(this),
      annotationsOf: this.annotationsOf?.bind(this),
      post: (client, sent, options) =>
        client.chat.completions
          .create(sent as unknown as OpenAI.ChatCompletionCreateParams, options)
          .asResponse(),
      mapper: (context) => new CompletionsUpdates(context),
    }
  }
}
