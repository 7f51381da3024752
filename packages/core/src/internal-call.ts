import type { ChatClient, GetResponseOptions } from './chat-client.ts'
import type { ChatResponse } from './chat-response.ts'
import type { MessageInput } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { Usage } from './usage.ts'

/** A model call that a layer makes for itself, such as that of a judge. */
export interface InternalCall {
  /** Of the layer. */
  readonly layer: string
  readonly client: ChatClient
  readonly input: MessageInput
  readonly options?: Omit<GetResponseOptions, 'stream'> | undefined
}

/** What the event `internal_call` tells of it. */
export interface InternalCallEvent {
  readonly layer: string
  readonly provider: string
  readonly model: string | undefined
  /** Of `Date.now()`. */
  readonly startedAt: number
  readonly durationMs: number
  readonly usage?: Usage | undefined
  readonly status: 'completed' | 'failed'
}

/**
 * Makes a model call that belongs to no reader: it goes through the client's own layers and not
 * through the run's, its tokens count for the run, and an event `internal_call` tells of it.
 * It ends with `options.signal`, by default with the run.
 */
export async function callInternally(
  run: RunContext,
  { layer, client, input, options }: InternalCall,
): Promise<ChatResponse> {
  const startedAt = Date.now()
  const start = performance.now()
  const report = (status: InternalCallEvent['status'], response?: ChatResponse): void => {
    const data: InternalCallEvent = {
      layer,
      provider: client.provider,
      model: response?.model ?? options?.model ?? client.model,
      startedAt,
      durationMs: performance.now() - start,
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
