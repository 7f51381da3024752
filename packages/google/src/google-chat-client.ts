import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import type { ContinuationReport } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import type { FailureContext, PreparedHistory, TransportCall, WireObject } from '@lamella/transport'
import {
  conversationTexts,
  headerUpdates,
  readEventStream,
  readWhole,
  responseOf,
} from '@lamella/transport'
import type { MapperContext } from './answers/content-updates.ts'
import { ContentUpdates } from './answers/content-updates.ts'
import type { ContentCaching } from './caching/content-caching.ts'
import type { GoogleChatClientOptions } from './connection/client-options.ts'
import type { Connection } from './connection/google-connection.ts'
import { connect } from './connection/google-connection.ts'
import { toProviderError } from './errors/google-error.ts'
import { googleHistory } from './history/google-history.ts'
import type { CachedContentOptions } from './requests/google-provider-options.ts'
import { readProviderOptions } from './requests/google-provider-options.ts'
import type { PreparedBody, RequestDefaults } from './requests/google-request.ts'
import { googleBody, modelOf, replayOf } from './requests/google-request.ts'

/**
 * Gemini, through the Gemini API or Vertex AI.
 *
 * @example
 * ```ts
 * import { GoogleChatClient } from '@lamella/google'
 *
 * const client = new GoogleChatClient({ apiKey: 'my-key', model: 'gemini-3.8-flash' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class GoogleChatClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  /** The body that was made last; the next call takes its names and notes. */
  #prepared: PreparedBody | undefined

  /** @throws TypeError without a key, or for options that do not go together */
  constructor(options: GoogleChatClientOptions = {}) {
    super(options ?? {})
    this.#connection = connect(options)
    this.provider = this.#connection.provider
  }

  /** The server, and what it filters where a call says nothing. */
  get fingerprint(): string {
    const { sender, pathOf, safetySettings = [] } = this.#connection
    const { origin, pathname } = new URL(sender.baseURL)
    return `${origin}${pathname} ${pathOf('', '')} ${JSON.stringify(safetySettings)}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const call = this.#call(request, 'generateContent')
    const bodyTimeoutMs = this.#connection.idleTimeoutMs
    return responseOf(
      await readWhole({ ...call, wanted: 'an answer', isAnswer, bodyTimeoutMs }),
      call,
    )
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return readEventStream({
      ...this.#call(request, 'streamGenerateContent', { alt: 'sse' }),
      errorIn: ({ error }) => error,
      timeouts: this.#connection,
    })
  }

  /** Makes any history valid for Google. Every call does this itself. */
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
    const own = readProviderOptions(request, this.provider)
    this.#prepared = googleBody(request, own, this.#defaults)
    return this.#prepared.body
  }

  get #defaults(): RequestDefaults {
    const { provider, isVertex, safetySettings } = this.#connection
    return { provider, isVertex, safetySettings, model: this.model }
  }

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return googleHistory(messages, { provider, model })
  }

  #call(request: ChatRequest, method: string, query: Record<string, string> = {}): ReadyCall {
    const { sender, provider, pathOf } = this.#connection
    const own = readProviderOptions(request, provider)
    const model = modelOf(request, this.#defaults)
    const body = this.requestBody(request)
    const { toolNames = new Map<string, string>(), notes = {} } = this.#prepared ?? {}
    for (const { name: tool, reason } of this.#prepared?.omitted ?? []) {
      request.emit?.({ type: 'tool_left_out', data: { tool, reason, provider } })
    }
    const context: MapperContext = { provider, model, toolNames, notes }
    const failure: FailureContext = {
      provider,
      replay: replayOf(body),
      confidential: { keys: () => sender.keys, texts: () => conversationTexts(request) },
    }
    const path = pathOf(model, method)
    const send = (sent: WireObject, signal: AbortSignal): Promise<Response> =>
      sender.send({
        method: 'POST',
        path,
        body: sent,
        signal,
        headers: own.extraHeaders,
        query: { ...query, ...own.extraQuery },
        timeoutMs: own.timeoutMs,
        maxRetries: request.options.transportRetries,
      })
    const cached =
      typeof own.cachedContent === 'object'
        ? this.#cached(request, body, path, own.cachedContent)
        : undefined
    return {
      signal: request.signal,
      open: (signal) =>
        cached === undefined ? send(body, signal) : cached(signal, (sent) => send(sent, signal)),
      mapper: () => new ContentUpdates(context),
      headerUpdates: (headers) =>
        headerUpdates({
          rateLimit: undefined,
          requestId: undefined,
          headers: own.responseHeaders === true ? headers : undefined,
        }),
      reportIn,
      toError: (cause, known) => toProviderError(cause, { ...failure, ...known }),
    }
  }

  #cached(
    request: ChatRequest,
    body: WireObject,
    path: string,
    options: CachedContentOptions,
  ): ReturnType<ContentCaching> {
    const { sender, caching, idleTimeoutMs } = this.#connection
    if (caching === undefined) {
      throw new TypeError(
        'providerOptions.google: options of `cachedContent` need the option `caching` of the client',
      )
    }
    const { history, rules } = this.#prepared!
    return caching({
      body,
      messages: request.messages,
      history,
      rules,
      options,
      sender,
      path,
      bodyTimeoutMs: idleTimeoutMs,
    })
  }
}

interface ReadyCall extends TransportCall {
  readonly mapper: () => ContentUpdates
  readonly headerUpdates: (headers: Headers) => readonly ChatResponseUpdate[]
}

function isAnswer(body: WireObject): boolean {
  return ['candidates', 'promptFeedback', 'usageMetadata'].some((field) => body[field] != null)
}

/** Gateways say `{ message }` or `{ detail }`. */
function reportIn(body: WireObject): unknown {
  const { error, message, detail } = body
  return (error ?? message ?? detail) ? body : undefined
}
