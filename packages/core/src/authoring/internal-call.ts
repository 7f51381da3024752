import type { ChatClient, GetResponseOptions } from '../contract/chat.ts'
import type { RunContext } from '../contract/run.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'

/** A model call that a middleware makes for itself, such as a judge's. */
export interface InternalCall {
  /** Name of the middleware, for the event. */
  readonly middleware: string
  /** Client to call. */
  readonly client: ChatClient
  /** Input of the call. */
  readonly input: MessageInput
  /** Options of the call. @default the run's signal, and nothing else */
  readonly options?: Omit<GetResponseOptions, 'stream'> | undefined
}

/** Data of the event `internal_call`. */
export interface InternalCallEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Provider that was called. */
  readonly provider: string
  /** Model that answered, or that was requested. */
  readonly model: string | undefined
  /** Model that was requested. Undefined if the client has no default. */
  readonly requestedModel: string | undefined
  /** Start of the call, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Duration in milliseconds. */
  readonly durationMs: number
  /** Tokens used, if reported. */
  readonly usage?: Usage | undefined
  /** Result of the call. */
  readonly status: 'completed' | 'failed'
}

/**
 * Makes a model call for the middleware itself: it passes the client's own middleware but not the
 * run's, its tokens count for the run, and an event `internal_call` reports it. `options.signal`
 * cancels it, by default the run's signal.
 */
export async function callInternally(
  run: RunContext,
  { middleware, client, input, options }: InternalCall,
): Promise<ChatResponse> {
  const startedAt = run.clock.now()
  const report = (status: InternalCallEvent['status'], response?: ChatResponse): void => {
    const requestedModel = options?.model ?? client.model
    const data: InternalCallEvent = {
      middleware,
      provider: client.provider,
      model: response?.model ?? requestedModel,
      requestedModel,
      startedAt,
      durationMs: run.clock.now() - startedAt,
      status,
      ...(response?.usage && { usage: response.usage }),
    }
    run.emit({ type: 'internal_call', data })
  }
  try {
    const response = await client.getResponse(input, {
      signal: run.signal,
      parent: run,
      ...options,
    })
    if (response.usage) run.addUsage(response.usage)
    report('completed', response)
    return response
  } catch (error) {
    report('failed')
    throw error
  }
}
