import type { Annotation, ContinuationReport, OptionRules } from '@lamella/core/authoring'
import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import { BaseChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { ChatDialect } from '../dialects/chat-dialect.ts'
import { chatDialects, dialectOf } from '../dialects/chat-dialects.ts'
import {
  completionsBody,
  completionsHistory,
  refusedOptions,
} from '../completions/completions-request.ts'
import { CompletionsUpdates } from '../completions/completions-updates.ts'
import type { OpenAICall } from '../connection/openai-call.ts'
import { callOptions, callStreamed, callWhole } from '../connection/openai-call.ts'
import type { Connection, OpenAIClientOptions } from '../connection/openai-connection.ts'
import { connect } from '../connection/openai-connection.ts'
import { addressOf } from '../connection/client-options.ts'
import type { CompletionsOptions } from '../connection/completions-options.ts'
import { completionsRules } from '../connection/completions-options.ts'
import { readProviderOptions } from '../connection/openai-provider-options.ts'
import type { PreparedHistory } from '@lamella/transport'
import { prepareHistory, reportTools } from '@lamella/transport'
import { completionsTools } from '../requests/tool-params.ts'
import { historyRules } from '../history/history-rules.ts'

const owner = 'OpenAIChatCompletionsClient'

/** Options of `OpenAIChatCompletionsClient`. */
export type OpenAIChatCompletionsClientOptions = OpenAIClientOptions & CompletionsOptions

/**
 * Models through Chat Completions: OpenAI's, and those of every compatible server by `baseURL`.
 *
 * @example
 * ```ts
 * import { OpenAIChatCompletionsClient } from '@lamella/openai/fetch'
 *
 * const client = new OpenAIChatCompletionsClient({
 *   baseURL: 'http://localhost:11434/v1',
 *   dialect: 'ollama',
 *   model: 'llama3.2',
 * })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class OpenAIChatCompletionsClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  readonly #dialect: ChatDialect
  /** Of the body that was made last, until the call that it is for takes them. */
  #losses: readonly string[] = []

  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIChatCompletionsClientOptions = {}) {
    checkOptions(owner, options, completionsRules)
    super(options)
    const dialect = checkedDialect(options)
    const { maxTokensField = dialect.maxTokensField, streamUsage = dialect.streamUsage } = options
    this.#dialect = { ...dialect, maxTokensField, streamUsage }
    const provider = options.provider ?? dialect.provider
    this.#connection = connect(owner, { ...options, provider }, dialect.errorCodes)
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
      ...(this.#dialect.streamUsage && { stream_options: { include_usage: true } }),
    })
  }

  /** Makes any history valid for Chat Completions. Every call does this itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#prepare(messages).messages
  }

  /** Lists the parts of a history that a request would omit or change. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = this.#prepare(messages)
    return { ok: losses.length === 0, losses }
  }

  /** Returns the body of a request. A subclass may add fields of its server. */
  protected requestBody(request: ChatRequest): Record<string, unknown> {
    const { model, own } = callOptions(request, this.#connection, this.model)
    const settings = { provider: this.provider, model, dialect: this.#dialect }
    const { body, losses } = completionsBody(request, own, settings)
    this.#losses = losses
    return body
  }

  /** Reads additional metadata of a subclass from a completion or a chunk. */
  protected metadataOf?(
    payload: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined

  /** Reads citations of a subclass from a message or a piece of one. */
  protected annotationsOf?(message: Readonly<Record<string, unknown>>): readonly Annotation[]

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    const rules = completionsHistory(this.#dialect)
    return prepareHistory(messages, historyRules(rules, { provider, model }))
  }

  #call(request: ChatRequest): OpenAICall {
    const body = this.requestBody(request)
    return {
      connection: this.#connection,
      request,
      model: request.options.model ?? this.model,
      body,
      losses: this.#losses,
      own: readProviderOptions(request, this.provider),
      replay: 'safe',
      unknownOptions: refusedOptions(request, this.model, this.#dialect),
      aliases: reportTools(
        request,
        this.provider,
        completionsTools(this.#dialect.provider).schemas,
      ),
      metadataOf: this.metadataOf?.bind(this),
      annotationsOf: this.annotationsOf?.bind(this),
      path: '/chat/completions',
      mapper: (context) => new CompletionsUpdates(context, this.#dialect),
    }
  }
}

const optionalFields = {
  requiredThinkingField: 'string?',
  files: 'any',
  audio: 'any',
  authorNames: 'any',
  seedField: 'string?',
  oneSystemMessage: 'any',
  foreignSignature: 'string?',
  beginsInThinking: 'any',
} as const

function checkedDialect(options: OpenAIChatCompletionsClientOptions): ChatDialect {
  const { dialect } = options
  if (typeof dialect === 'string') {
    checkOptions(owner, { dialect }, { dialect: Object.keys(chatDialects) })
  } else if (dialect !== undefined) {
    const rules = Object.keys(chatDialects.openai).map((name) => [name, 'any'] as const)
    const all = { ...Object.fromEntries(rules), ...optionalFields }
    checkOptions(`${owner}: \`dialect\``, dialect, all as unknown as OptionRules<ChatDialect>)
  }
  return dialectOf(dialect, addressOf(options), options.provider)
}
