import type { ChatResponseUpdate } from '@lamella/core'
import type { UpdateMapper } from './answer-mapper.ts'
import { ArrivedUpdates } from './arrived-updates.ts'
import type { FailureContext } from './openai-error.ts'
import { failed, InBandFailure, toProviderError } from './openai-error.ts'
import { rateLimitUpdates } from './rate-limit-info.ts'
import type { SseEvent } from './sse-events.ts'
import { SseReader } from './sse-events.ts'
import type { StreamTimeouts } from './stall-timer.ts'
import { StallTimer } from './stall-timer.ts'
import { unreadable } from './whole-response.ts'
import { record } from './wire.ts'

export interface GuardedCall {
  /** Sends the request and resolves when the answer's headers are there. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  readonly signal: AbortSignal
  readonly mapper: () => UpdateMapper
  readonly failure: FailureContext
  readonly timeouts: StreamTimeouts
}

/**
 * A stream that ends only when the answer does: a cut, a stall, a missing terminal marker and an
 * error inside the stream all reject, with what had arrived. An abort rejects at once with the
 * signal's reason. Starts on the first pull and reads no further than the consumer asks.
 */
export function guardStream(call: GuardedCall): AsyncIterable<ChatResponseUpdate> {
  return { [Symbol.asyncIterator]: () => new GuardedStream(call) }
}

type Step = IteratorResult<ChatResponseUpdate, undefined>

interface Pull {
  readonly resolve: (step: Step) => void
  readonly reject: (error: unknown) => void
  readonly settled: Promise<Step>
}

interface Failure {
  readonly error: unknown
}

/** Why the stream is no answer, in words. The error is made when all that arrived is known. */
class Break {
  readonly words: string

  constructor(words: string) {
    this.words = words
  }
}

const done: Step = Object.freeze({ done: true, value: undefined })

class GuardedStream implements AsyncIterator<ChatResponseUpdate, undefined> {
  readonly #call: GuardedCall
  readonly #mapper: UpdateMapper
  readonly #transport = new AbortController()
  readonly #arrived = new ArrivedUpdates()
  readonly #timer: StallTimer
  #updates: ChatResponseUpdate[] = []
  /** To be told with the first update of the answer: by itself it would be one before there is any. */
  #limits: readonly ChatResponseUpdate[] = []
  #next = 0
  #reader: SseReader | undefined
  #pull: Pull | undefined
  #isStarted = false
  #isOver = false
  #failure: Failure | undefined

  constructor(call: GuardedCall) {
    this.#call = call
    this.#mapper = call.mapper()
    this.#timer = new StallTimer(call.timeouts, (words) => {
      this.#stop({ error: failed('timeout', this.#context(), { words }) })
    })
  }

  next(): Promise<Step> {
    const update = this.#updates[this.#next]
    if (update !== undefined) {
      this.#next++
      return Promise.resolve({ done: false, value: update })
    }
    if (this.#isOver) return this.#end()
    if (this.#pull !== undefined) {
      const again = (): Promise<Step> => this.next()
      return this.#pull.settled.then(again, again)
    }
    let settle: Omit<Pull, 'settled'>
    const settled = new Promise<Step>((resolve, reject) => {
      settle = { resolve, reject }
    })
    this.#pull = { ...settle!, settled }
    this.#start()
    if (this.#pull !== undefined) {
      this.#timer.wait()
      void this.#fill()
    }
    return settled
  }

  async return(): Promise<Step> {
    this.#stop(undefined)
    return done
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const { signal } = this.#call
    if (signal.aborted) this.#onAbort()
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = (): void => {
    this.#stop({ error: this.#call.signal.reason })
  }

  /** Reads until there is an update, the end, or a failure. */
  async #fill(): Promise<void> {
    this.#updates = []
    this.#next = 0
    try {
      this.#reader ??= await this.#open()
      while (!this.#isOver && this.#updates.length === 0) {
        const events = await this.#reader.read()
        if (this.#isOver) return
        this.#take(events ?? this.#reader.rest(), events === undefined)
      }
    } catch (error) {
      if (this.#isOver) return
      this.#fail(error)
    }
    if (this.#pull !== undefined) this.#settle()
  }

  async #open(): Promise<SseReader> {
    const response = await this.#call.open(this.#transport.signal)
    this.#limits = rateLimitUpdates(response)
    const type = response.headers.get('content-type') ?? ''
    if (response.body === null || /\bjson\b|html|xml/i.test(type)) {
      throw unreadable(await response.text(), 'a stream', this.#call.failure)
    }
    return new SseReader(response.body)
  }

  #take(events: readonly SseEvent[], isEnd: boolean): void {
    const updates = this.#updates
    try {
      for (const event of events) {
        if (event.data === '[DONE]') {
          this.#finish(true)
          return
        }
        this.#mapper.map(parse(event, isEnd), updates)
        if (this.#mapper.isOver) break
      }
      if (isEnd || this.#mapper.isOver) this.#finish(false)
    } finally {
      if (updates.length > 0) {
        updates.unshift(...this.#limits)
        this.#limits = []
      }
      for (const update of updates) this.#arrived.add(update)
      this.#timer.alive(updates.length > 0)
    }
  }

  #finish(hasDoneMarker: boolean): void {
    if (!this.#mapper.end(hasDoneMarker)) {
      if (this.#arrived.isEmpty && this.#reader?.isForeign) {
        throw unreadable('text', 'a stream', this.#call.failure)
      }
      throw new Break('the stream broke off before its end')
    }
    this.#isOver = true
    this.#timer.stop()
    void this.#reader?.release()
  }

  /** The updates before a failure are still handed out. */
  #fail(cause: unknown): void {
    // A connection that fails behind the end of the answer has failed too late to matter.
    if (!(cause instanceof Break) && !(cause instanceof InBandFailure) && this.#mapper.end(false)) {
      this.#isOver = true
      this.#timer.stop()
      return
    }
    this.#isOver = true
    const context = this.#context()
    const error =
      cause instanceof Break
        ? failed('truncated_stream', context, { words: cause.words })
        : toProviderError(cause, context)
    this.#failure = { error }
    this.#timer.stop()
    this.#transport.abort()
  }

  #context(): FailureContext {
    const partial = this.#arrived.isEmpty ? undefined : this.#arrived.response()
    return { ...this.#call.failure, partial }
  }

  /** Ends at once: nothing that was read is handed out any more. */
  #stop(failure: Failure | undefined): void {
    if (this.#isOver && this.#updates.length === this.#next && this.#failure === undefined) return
    this.#isOver = true
    this.#updates = []
    this.#next = 0
    this.#failure = failure
    this.#timer.stop()
    this.#transport.abort(failure?.error)
    void this.#reader?.cancel(failure?.error)
    if (this.#pull !== undefined) this.#settle()
    else if (failure === undefined) void this.#end()
  }

  #settle(): void {
    const pull = this.#pull!
    this.#pull = undefined
    this.#timer.rest()
    const update = this.#updates[this.#next]
    if (update === undefined) {
      this.#end().then(pull.resolve, pull.reject)
      return
    }
    this.#next++
    pull.resolve({ done: false, value: update })
  }

  /** A failure is told once; then the stream is over like any other. */
  #end(): Promise<Step> {
    const failure = this.#failure
    this.#failure = undefined
    this.#call.signal.removeEventListener('abort', this.#onAbort)
    return failure === undefined ? Promise.resolve(done) : Promise.reject(failure.error)
  }
}

function parse({ event, data }: SseEvent, isEnd: boolean): unknown {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    // Without the parser's error: its message quotes the text.
    const words = isEnd
      ? 'the stream broke off inside an event'
      : 'an event of the stream is not JSON'
    throw new Break(words)
  }
  const { error } = record(value)
  if (error) throw new InBandFailure(error)
  if (event === 'error') throw new InBandFailure(value)
  return value
}
