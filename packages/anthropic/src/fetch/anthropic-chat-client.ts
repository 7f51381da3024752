import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import type { ContinuationReport } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import type {
  AnswerMapper,
  FailureContext,
  PreparedHistory,
  TransportCall,
  WireObject,
} from '@lamella/transport'
import {
  conversationTexts,
  headerUpdates,
  readEventStream,
  readRateLimits,
  readWhole,
  responseOf,
  reportTools,
  unwrapAnswer,
} from '@lamella/transport'
import type { AnthropicChatClientOptions, Connection } from '../connection/anthropic-connection.ts'
import { connect } from '../connection/anthropic-connection.ts'
import { toProviderError } from '../errors/anthropic-error.ts'
import type { AnthropicProviderOptions } from '../requests/anthropic-provider-options.ts'
import { readProviderOptions } from '../requests/anthropic-provider-options.ts'
import { ignoredOptions, messagesBody, replayOf } from '../requests/messages-request.ts'
import type { MapperContext } from '../answers/messages-updates.ts'
import { MessagesUpdates } from '../answers/messages-updates.ts'
import { toolSchemas } from '../requests/tool-params.ts'
import { messagesHistory } from '../history/messages-history.ts'
import { rateLimitHeaders } from '../errors/rate-limit-headers.ts'

/**
 * Claude, through Anthropic's Messages API.
 *
 * @example
 * ```ts
 * import { AnthropicChatClient } from '@lamella/anthropic/fetch'
 *
 * const client = new AnthropicChatClient({ apiKey: 'my-key', model: 'claude-sonnet-5-5' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class AnthropicChatClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  /** Of the body that was made last, until the call that it is for takes them. */
  #losses: readonly string[] = []

  /** @throws TypeError without a key, or for options that do not go together */
  constructor(options: AnthropicChatClientOptions = {}) {
    super(options)
    this.#connection = connect(options)
    this.provider = this.#connection.provider
  }

  /** The server, and how long an answer may be where a call says nothing. */
  get fingerprint(): string {
    const { sender, maxOutputTokens } = this.#connection
    const { origin, pathname } = new URL(sender.baseURL)
    return `${origin}${pathname} ${maxOutputTokens}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const call = this.#call(request)
    const answer = await readWhole({
      ...call,
      wanted: 'a message',
      isAnswer: ({ content }) => Array.isArray(content),
      bodyTimeoutMs: this.#connection.idleTimeoutMs,
    })
    return responseOf(answer, call)
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return readEventStream({
      ...this.#call(request, { stream: true }),
      errorIn: (event, name) => (name === 'error' || event['error'] ? event : undefined),
      timeouts: this.#connection,
    })
  }

  /** Makes any history valid for the Messages API. Every call does this itself. */
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
    const { provider, dialect, maxOutputTokens } = this.#connection
    const model = request.options.model ?? this.model
    const own = readProviderOptions(request, provider)
    const settings = { provider, model, dialect, maxOutputTokens }
    const { body, losses } = messagesBody(request, own, settings)
    this.#losses = losses
    return body
  }

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return messagesHistory(messages, { provider, model, dialect: this.#connection.dialect })
  }

  #call(request: ChatRequest, streaming: WireObject = {}): ReadyCall {
    const { sender } = this.#connection
    const body = { ...this.requestBody(request), ...streaming }
    const own = readProviderOptions(request, this.provider)
    const context: MapperContext = {
      provider: this.provider,
      model: request.options.model ?? this.model,
      toolNames: (request.options.tools ?? []).map(({ name }) => name),
      aliases: reportTools(request, this.provider, toolSchemas),
      ignored: ignoredOptions(request),
      losses: this.#losses,
    }
    const failure: FailureContext = {
      provider: this.provider,
      replay: replayOf(body),
      confidential: { keys: () => sender.keys, texts: () => conversationTexts(request) },
    }
    return {
      signal: request.signal,
      open: (signal) =>
        sender.send({
          method: 'POST',
          path: '/v1/messages',
          body,
          signal,
          headers: headersOf(own),
          query: own.extraQuery,
          timeoutMs: own.timeoutMs,
          maxRetries: request.options.transportRetries,
        }),
      mapper: () => unwrapAnswer(request, new MessagesUpdates(context)),
      headerUpdates: (headers) => factsOf(headers, own),
      reportIn,
      toError: (cause, { partial, headers: answered }) =>
        toProviderError(cause, {
          ...failure,
          partial,
          headers: answered,
          requestId: answered?.get('request-id') ?? undefined,
        }),
    }
  }
}

interface ReadyCall extends TransportCall {
  readonly mapper: () => AnswerMapper
  readonly headerUpdates: (headers: Headers) => readonly ChatResponseUpdate[]
}

/** Gateways say `{ message }` or `{ detail }`. */
function reportIn(body: WireObject): unknown {
  const { error, message, detail } = body
  return (error ?? message ?? detail) ? body : undefined
}

function factsOf(
  headers: Headers,
  { responseHeaders }: AnthropicProviderOptions,
): readonly ChatResponseUpdate[] {
  return headerUpdates({
    rateLimit: readRateLimits(rateLimitHeaders, headers),
    requestId: headers.get('request-id') ?? undefined,
    headers: responseHeaders === true ? headers : undefined,
  })
}

function headersOf({
  betas = [],
  extraHeaders,
}: AnthropicProviderOptions): Readonly<Record<string, string>> | undefined {
  if (betas.length === 0) return extraHeaders
  return { 'anthropic-beta': betas.join(','), ...extraHeaders }
}
