import type {
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  ContinuationReport,
  Message,
} from '@lamella/core'
import { BaseChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { OpenAICall } from './openai-call.ts'
import { callOptions, callStreamed, callWhole } from './openai-call.ts'
import type { Connection, OpenAIClientOptions } from './openai-connection.ts'
import { clientRules, connect } from './openai-connection.ts'
import { prepareHistory } from './prepare-history.ts'
import type { PreparedHistory } from './prepare-history.ts'
import { responsesBody, responsesHistory, responsesReplay } from './responses-request.ts'
import { ResponsesUpdates } from './responses-updates.ts'

/** OpenAI's models through the Responses API. */
export class OpenAIChatClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection

  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIClientOptions = {}) {
    checkOptions('OpenAIChatClient', options, clientRules)
    super(options)
    this.#connection = connect('OpenAIChatClient', options)
    this.provider = this.#connection.provider
  }

  /** The API and the server. */
  get fingerprint(): string {
    return `responses ${this.#connection.server}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    return callWhole(this.#call(request))
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return callStreamed(this.#call(request), { stream: true })
  }

  /** Makes any history valid for the Responses API. Every call does so by itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#prepare(messages).messages
  }

  /** What of a history OpenAI would not be sent, or only changed. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = this.#prepare(messages)
    return { ok: losses.length === 0, losses }
  }

  /** The body of a request. A subclass may add what its server knows besides. */
  protected requestBody(request: ChatRequest): Record<string, unknown> {
    const { model, own } = callOptions(request, this.#connection, this.model)
    return responsesBody(request, own, { provider: this.provider, model })
  }

  /** What a subclass reads from a response, for the metadata of the answer. */
  protected metadataOf?(
    payload: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return prepareHistory(messages, { ...responsesHistory, provider, model, isContinued: false })
  }

  #call(request: ChatRequest): OpenAICall {
    const body = this.requestBody(request)
    return {
      connection: this.#connection,
      request,
      model: request.options.model ?? this.model,
      body,
      replay: responsesReplay(body),
      unknownOptions: ['stop', 'seed'],
      metadataOf: this.metadataOf?.bind(this),
      post: (client, sent, options) => client.responses.create(sent, options).asResponse(),
      mapper: (context) => new ResponsesUpdates(context),
    }
  }
}
