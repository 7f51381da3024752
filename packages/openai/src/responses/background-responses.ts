import type { ChatResponse, ChatResponseUpdate, ProviderErrorKind } from '@lamella/core'
import { foldUpdates, isProviderError } from '@lamella/core'
import { systemClock } from '@lamella/core/authoring'
import type { EventMapper, TransportCall } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import type { CallRequest, OpenAICall } from '../connection/openai-call.ts'
import {
  newMapper,
  readAnswer,
  readEvents,
  responseOf,
  transportOf,
} from '../connection/openai-call.ts'
import type { Connection } from '../connection/openai-connection.ts'
import type { BackgroundOptions } from '../connection/openai-provider-options.ts'
import { toProviderError } from '../errors/openai-error.ts'

// https://developers.openai.com/api/docs/guides/background, 2026-11.

/** Submits a response or continues one, and polls it until it is complete. */
export async function callInBackground(call: OpenAICall): Promise<ChatResponse> {
  const { responseId, wait = true, pollMs = 2000 } = backgroundOf(call)
  const { signal } = call.request
  let id = responseId
  try {
    for (;;) {
      const answer = await readAnswer(
        call,
        id === undefined ? { body: call.body } : retrieval(id),
        failuresOf(call, () => [{ contents: [], responseId: id }]),
      )
      id ??= stringOf(answer.body['id'])
      const { status } = answer.body
      const isPending = status === 'queued' || status === 'in_progress'
      if (!wait || id === undefined || !isPending) return responseOf(call, answer)
      await systemClock.sleep(pollMs, signal)
    }
  } catch (error) {
    if (wait && id !== undefined && signal.aborted) abandon(call, id)
    throw error
  }
}

/** Streams a background response. It reconnects if a connection breaks. */
export function followInBackground(call: OpenAICall): AsyncIterable<ChatResponseUpdate> {
  return { [Symbol.asyncIterator]: () => new BackgroundStream(call) }
}

/** Asks the server to stop working on a response. */
export async function cancelResponse(
  { sender, provider, errorCodes }: Connection,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { path } = retrieval(id)
    const answer = await sender.send({ method: 'POST', path: `${path}/cancel`, body: {}, signal })
    await answer.body?.cancel()
  } catch (error) {
    signal.throwIfAborted()
    const confidential = { keys: () => sender.keys, texts: () => [] }
    throw toProviderError(error, { provider, errorCodes, replay: 'safe', confidential })
  }
}

type Step = IteratorResult<ChatResponseUpdate, undefined>

const broken: ReadonlySet<ProviderErrorKind> = new Set(['network', 'truncated_stream', 'timeout'])
const mostFailures = 5

class BackgroundStream implements AsyncIterator<ChatResponseUpdate, undefined> {
  readonly #call: OpenAICall
  readonly #mapper: FollowedMapper
  #connection: AsyncIterator<ChatResponseUpdate>
  /** The pull before the next one. */
  #last: Promise<unknown> = Promise.resolve()
  /** Connections that broke since the last update. */
  #failures = 0
  #isOver = false

  constructor(call: OpenAICall) {
    this.#call = call
    this.#mapper = new FollowedMapper(newMapper(call), backgroundOf(call).responseId)
    this.#connection = this.#connect()
  }

  next(): Promise<Step> {
    const step = this.#last.then(() => this.#step())
    this.#last = step.catch(() => undefined)
    return step
  }

  async return(): Promise<Step> {
    this.#leave()
    await this.#connection.return?.()
    return { done: true, value: undefined }
  }

  async #step(): Promise<Step> {
    while (!this.#isOver) {
      try {
        const step = await this.#connection.next()
        this.#failures = 0
        if (step.done !== true) return step
        this.#isOver = true
      } catch (error) {
        await this.#reconnect(error)
      }
    }
    return { done: true, value: undefined }
  }

  async #reconnect(error: unknown): Promise<void> {
    const { signal } = this.#call.request
    const { responseId, isOver } = this.#mapper
    const isBroken = isProviderError(error) && broken.has(error.kind)
    if (signal.aborted) this.#leave()
    if (!isBroken || isOver || responseId === undefined || this.#failures === mostFailures) {
      this.#isOver = true
      throw error
    }
    try {
      await systemClock.sleep(this.#failures++ * 500, signal)
    } catch (reason) {
      this.#leave()
      throw reason
    }
    if (!this.#isOver) this.#connection = this.#connect()
  }

  #connect(): AsyncIterator<ChatResponseUpdate> {
    const mapper = this.#mapper
    const { responseId, sequence } = mapper
    const after = sequence === undefined ? {} : { starting_after: String(sequence) }
    const request: CallRequest =
      responseId === undefined
        ? { body: { ...this.#call.body, stream: true } }
        : { ...retrieval(responseId), query: { stream: 'true', ...after } }
    const toError = failuresOf(this.#call, () => mapper.arrived)
    return readEvents(this.#call, request, mapper, toError)[Symbol.asyncIterator]()
  }

  /** Ends the stream. A response without a reader is cancelled. */
  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { responseId } = this.#mapper
    const { wait = true } = backgroundOf(this.#call)
    if (wait && responseId !== undefined) abandon(this.#call, responseId)
  }
}

/** The mapper of one response over all connections, and how far it is. */
class FollowedMapper implements EventMapper {
  readonly arrived: ChatResponseUpdate[] = []
  readonly #mapper: EventMapper
  responseId: string | undefined
  sequence: number | undefined

  constructor(mapper: EventMapper, responseId: string | undefined) {
    this.#mapper = mapper
    this.responseId = responseId
  }

  get isOver(): boolean {
    return this.#mapper.isOver
  }

  map(value: unknown, updates: ChatResponseUpdate[]): void {
    const event = recordOf(value)
    const { sequence_number: sequence } = event
    if (typeof sequence === 'number') this.sequence = sequence
    this.responseId ??= stringOf(recordOf(event['response'])['id'])
    const before = updates.length
    try {
      this.#mapper.map(value, updates)
    } finally {
      this.arrived.push(...updates.slice(before))
    }
  }

  end(hasDoneMarker: boolean, updates: ChatResponseUpdate[]): boolean {
    return this.#mapper.end(hasDoneMarker, updates)
  }
}

function backgroundOf({ own: { background } }: OpenAICall): BackgroundOptions {
  return typeof background === 'object' ? background : {}
}

function retrieval(id: string): CallRequest & { readonly path: string } {
  return { method: 'GET', path: `/responses/${encodeURIComponent(id)}` }
}

/** Errors of a call with the content received over all of its requests, at least the id. */
function failuresOf(
  call: OpenAICall,
  arrived: () => readonly ChatResponseUpdate[],
): TransportCall['toError'] {
  const { toError } = transportOf(call)
  return (cause, known) => toError(cause, { ...known, partial: foldUpdates(arrived()) })
}

/** Cancels a response without waiting: its reader has left. */
function abandon({ connection }: OpenAICall, id: string): void {
  void cancelResponse(connection, id, AbortSignal.timeout(10_000)).catch(() => undefined)
}
