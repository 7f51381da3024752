import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import type { ContinuationReport } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { OpenAICall } from '../connection/openai-call.ts'
import { callOptions, callStreamed, callWhole } from '../connection/openai-call.ts'
import type { Connection, OpenAIClientOptions } from '../connection/openai-connection.ts'
import { connect } from '../connection/openai-connection.ts'
import { clientRules } from '../connection/client-options.ts'
import { readProviderOptions } from '../connection/openai-provider-options.ts'
import type { PreparedHistory } from '@lamella/transport'
import { prepareHistory } from '@lamella/transport'
import { historyRules } from '../history/history-rules.ts'
import {
  callInBackground,
  cancelResponse,
  followInBackground,
} from '../responses/background-responses.ts'
import { responsesBody, responsesHistory, responsesReplay } from '../responses/responses-request.ts'
import { ResponsesUpdates } from '../responses/responses-updates.ts'

/**
 * OpenAI's models through the Responses API.
 *
 * @example
 * ```ts
 * import { OpenAIChatClient } from '@lamella/openai/fetch'
 *
 * const client = new OpenAIChatClient({ apiKey: 'my-key', model: 'gpt-5-mini' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class OpenAIChatClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  /** Of the body that was made last, until the call that it is for takes them. */
  #losses: readonly string[] = []

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
    const call = this.#call(request)
    return call.own.background ? callInBackground(call) : callWhole(call)
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    const call = this.#call(request)
    return call.own.background ? followInBackground(call) : callStreamed(call, {})
  }

  /** Cancels a background response. A complete one stays unchanged. */
  async cancel(
    responseId: string,
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    await cancelResponse(this.#connection, responseId, signal)
  }

  /** Makes any history valid for the Responses API. Every call does this itself. */
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
    const { body, losses } = responsesBody(request, own, { provider: this.provider, model })
    this.#losses = losses
    return body
  }

  /** Reads additional metadata of a subclass from a response. */
  protected metadataOf?(
    payload: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return prepareHistory(messages, historyRules(responsesHistory, { provider, model }))
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
      replay: responsesReplay(body),
      unknownOptions: ['stop', 'seed'],
      metadataOf: this.metadataOf?.bind(this),
      path: '/responses',
      mapper: (context) => new ResponsesUpdates(context),
    }
  }
}
