import type {
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  ContinuationReport,
  Message,
} from '@lamella/core'
import { BaseChatClient, foldUpdates } from '@lamella/core'
import type { FailureContext, TransportCall, WireObject } from '@lamella/core/transport'
import {
  boundedFailure,
  conversationTexts,
  guardStream,
  rateLimitUpdates,
  readWhole,
  stringOf,
} from '@lamella/core/transport'
import type { AnthropicChatClientOptions, Connection } from './anthropic-connection.ts'
import { connect } from './anthropic-connection.ts'
import { toProviderError } from './anthropic-error.ts'
import type { AnthropicProviderOptions } from './anthropic-provider-options.ts'
import { readProviderOptions } from './anthropic-provider-options.ts'
import { refuseLongWaits } from './long-waits.ts'
import { ignoredOptions, messagesBody, replayOf } from './messages-request.ts'
import type { MapperContext } from './messages-updates.ts'
import { MessagesUpdates } from './messages-updates.ts'
import { prepareHistory } from './prepare-history.ts'
import { rateLimitInfo } from './rate-limit-info.ts'

/** Claude, through Anthropic's Messages API. */
export class AnthropicChatClient extends BaseChatClient {
  readonly provider: string = 'anthropic'
  readonly #connection: Connection

  /** @throws TypeError without a key, or for options that do not go together */
  constructor(options: AnthropicChatClientOptions = {}) {
    super(options)
    this.#connection = connect(options)
  }

  /** The server, and how long an answer may be where a call says nothing. */
  get fingerprint(): string {
    const { client, maxOutputTokens } = this.#connection
    const { origin, pathname } = new URL(client.baseURL)
    return `${origin}${pathname} ${maxOutputTokens}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const call = this.#call(request)
    const { body: raw, headers } = await readWhole({
      ...call,
      wanted: 'a message',
      isAnswer: ({ content }) => Array.isArray(content),
      bodyTimeoutMs: this.#connection.idleTimeoutMs,
    })
    const updates = [...headerUpdates(headers)]
    call.mapper().whole(raw, updates)
    return { ...foldUpdates(updates), raw }
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return guardStream({
      ...this.#call(request, { stream: true }),
      errorIn: (event, name) => (name === 'error' || event['error'] ? event : undefined),
      headerUpdates,
      timeouts: this.#connection,
    })
  }

  /** Makes any history valid for the Messages API. Every call does so by itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return prepareHistory(messages, this).messages
  }

  /** What of a history Anthropic would not be sent, or only changed. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = prepareHistory(messages, this)
    return { ok: losses.length === 0, losses }
  }

  /** The body of a request. A subclass may add what its server knows besides. */
  protected requestBody(request: ChatRequest): Record<string, unknown> {
    return messagesBody(request, readProviderOptions(request), {
      provider: this.provider,
      model: request.options.model ?? this.model,
      maxOutputTokens: this.#connection.maxOutputTokens,
    })
  }

  #call(request: ChatRequest, streaming: WireObject = {}): ReadyCall {
    const { client, idleTimeoutMs, timeoutMs, secrets } = this.#connection
    const body = { ...this.requestBody(request), ...streaming }
    const headers = headersOf(readProviderOptions(request))
    const { transportRetries } = request.options
    const context: MapperContext = {
      provider: this.provider,
      model: request.options.model ?? this.model,
      ignored: ignoredOptions(request),
    }
    const failure: FailureContext = {
      provider: this.provider,
      replay: replayOf(body),
      confidential: {
        get keys() {
          return secrets()
        },
        texts: () => conversationTexts(request),
      },
    }
    return {
      signal: request.signal,
      open: (signal) =>
        // What is sent was put together from untyped parts, and the SDK passes it on as it is.
        client.messages
          .create(body as never, {
            signal,
            // Said here, the SDK does not refuse long answers that are not streamed.
            timeout: timeoutMs,
            middleware: [
              refuseLongWaits,
              async (sent, next) => boundedFailure(await next(sent), idleTimeoutMs),
            ],
            ...(transportRetries !== undefined && { maxRetries: transportRetries }),
            ...(headers !== undefined && { headers }),
          })
          .asResponse(),
      mapper: () => new MessagesUpdates(context),
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
  readonly mapper: () => MessagesUpdates
}

/** Gateways say `{ message }` or `{ detail }`. */
function reportIn(body: WireObject): unknown {
  const { error, message, detail } = body
  return error || stringOf(message) || stringOf(detail) ? body : undefined
}

function headerUpdates(headers: Headers): readonly ChatResponseUpdate[] {
  return rateLimitUpdates(rateLimitInfo(headers))
}

function headersOf({
  betas = [],
  extraHeaders,
}: AnthropicProviderOptions): Readonly<Record<string, string>> | undefined {
  if (betas.length === 0) return extraHeaders
  return { 'anthropic-beta': betas.join(','), ...extraHeaders }
}
