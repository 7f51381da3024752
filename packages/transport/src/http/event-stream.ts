import { onAbort } from '@lamella/core/authoring'
import type { ChatResponseUpdate } from '@lamella/core'
import { ArrivedUpdates } from './arrived-updates.ts'
import type { SseEvent } from './sse-events.ts'
import { SseReader } from './sse-events.ts'
import type { StreamTimeouts } from './stall-timer.ts'
import { StallTimer } from './stall-timer.ts'
import type { TransportCall } from './transport-call.ts'
import { InBandFailure, TransportFault, reading, unreadable } from '../failures/transport-fault.ts'
import type { WireObject } from '../wire/wire.ts'
import { recordOf } from '../wire/wire.ts'

/** Makes updates of the events of one answer. */
export interface EventMapper {
  /** Appends what is new in this event. Throws an `InBandFailure` for what is an error. */
  map(event: unknown, updates: ChatResponseUpdate[]): void
  /** True if nothing can follow the events so far. */
  readonly isOver: boolean
  /**
   * The body has ended, or `[DONE]` has come. Appends what was held back until then. Returns false if
   * the answer is not complete.
   */
  end(hasDoneMarker: boolean, updates: ChatResponseUpdate[]): boolean
}

/** A call whose answer is a stream of events. */
export interface EventStreamCall extends TransportCall {
  /** Makes the mapper of this answer. */
  readonly mapper: () => EventMapper
  /** Returns the failure that an event reports, if any. `name` is its `event:` line. */
  readonly errorIn: (event: WireObject, name: string) => unknown
  /** Time limits, in milliseconds. */
  readonly timeouts: StreamTimeouts
  /** Returns updates for the headers of the answer. They come with the first update of the body. */
  readonly headerUpdates?: ((headers: Headers) => readonly ChatResponseUpdate[]) | undefined
}

/**
 * A stream that ends only when the answer does: a cut, a stall, a missing terminal marker and an
 * error inside the stream all reject, with what had arrived. An abort rejects at once with the
 * signal's reason. Starts on the first pull and reads no further than the consumer asks.
 * @example
 * ```ts
 * import { foldUpdates } from '@lamella/core'
 * import type { EventStreamCall } from '@lamella/transport'
 * import { readEventStream } from '@lamella/transport'
 *
 * async function answer(call: EventStreamCall) {
 *   const updates = []
 *   for await (const update of readEventStream(call)) updates.push(update)
 *   return foldUpdates(updates)
 * }
 * ```
 */
export function readEventStream(call: EventStreamCall): AsyncIterable<ChatResponseUpdate> {
  return { [Symbol.asyncIterator]: () => new EventStream(call) }
}

type Step = IteratorResult<ChatResponseUpdate, undefined>

interface Pull {
  readonly resolve: (step: Step) => void
  readonly reject: (error: unknown) => void
}

interface Failure {
  readonly error: unknown
}

const done: Step = Object.freeze({ done: true, value: undefined })

class EventStream implements AsyncIterator<ChatResponseUpdate, undefined> {
  readonly #call: EventStreamCall
  readonly #mapper: EventMapper
  readonly #transport = new AbortController()
  readonly #arrived = new ArrivedUpdates()
  readonly #timer: StallTimer
  #updates: ChatResponseUpdate[] = []
  /** To be told with the first update of the answer: by itself it would be one before there is any. */
  #leading: readonly ChatResponseUpdate[] = []
  #headers: Headers | undefined
  #next = 0
  #reader: SseReader | undefined
  /** Pulls that wait. There is nothing to hand out while there are any. */
  readonly #pulls: Pull[] = []
  /** Ends listening to the caller's signal, which begins with the first pull. */
  #unlisten: (() => void) | undefined
  #isOver = false
  #failure: Failure | undefined

  constructor(call: EventStreamCall) {
    this.#call = call
    this.#mapper = call.mapper()
    this.#timer = new StallTimer(call.timeouts, (words) => {
      this.#stop({ error: this.#errorOf(new TransportFault('timeout', words)) })
    })
  }

  next(): Promise<Step> {
    const update = this.#updates[this.#next]
    if (update !== undefined) {
      this.#next++
      return Promise.resolve({ done: false, value: update })
    }
    return new Promise((resolve, reject) => {
      this.#pulls.push({ resolve, reject })
      this.#unlisten ??= onAbort(this.#call.signal, (error) => this.#stop({ error }))
      if (this.#isOver) this.#settle()
      else if (this.#pulls.length === 1) {
        this.#timer.wait()
        void this.#fill()
      }
    })
  }

  async return(): Promise<Step> {
    this.#stop(undefined)
    return done
  }

  /** Reads until there is an update, the end, or a failure. */
  async #fill(): Promise<void> {
    this.#updates = []
    this.#next = 0
    try {
      this.#reader ??= await this.#open()
      // Given up meanwhile, by an `open` that does not listen to its signal.
      if (this.#isOver) return void this.#reader.cancel()
      while (!this.#isOver && this.#updates.length === 0) {
        const events = await this.#reader.read()
        if (this.#isOver) return
        this.#take(events ?? this.#reader.rest(), events === undefined)
      }
    } catch (error) {
      if (this.#isOver) return
      this.#fail(error)
    }
    this.#settle()
  }

  async #open(): Promise<SseReader> {
    const response = await this.#call.open(this.#transport.signal)
    const { headers } = response
    this.#headers = headers
    this.#leading = this.#call.headerUpdates?.(headers) ?? []
    if (response.body === null || /\bjson\b|html|xml/i.test(headers.get('content-type') ?? '')) {
      throw unreadable(await response.text(), 'a stream', this.#call.reportIn)
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
        reading(() => this.#mapper.map(this.#parse(event, isEnd), updates))
        if (this.#mapper.isOver) break
      }
      if (isEnd || this.#mapper.isOver) this.#finish(false)
    } finally {
      if (updates.length > 0) {
        updates.unshift(...this.#leading)
        this.#leading = []
      }
      for (const update of updates) this.#arrived.add(update)
      this.#timer.alive(updates.length > 0)
    }
  }

  #finish(hasDoneMarker: boolean): void {
    if (!reading(() => this.#mapper.end(hasDoneMarker, this.#updates))) {
      if (this.#arrived.isEmpty && this.#reader?.isForeign) {
        throw unreadable('text', 'a stream', this.#call.reportIn)
      }
      throw new TransportFault('truncated_stream', 'the stream broke off before its end')
    }
    this.#isOver = true
    this.#timer.stop()
    void this.#reader?.release()
  }

  /** The updates before a failure are still handed out. */
  #fail(cause: unknown): void {
    const isTold = cause instanceof TransportFault || cause instanceof InBandFailure
    // A connection that fails behind the end of the answer has failed too late to matter.
    const isTooLate = !isTold && this.#mapper.end(false, this.#updates)
    this.#isOver = true
    this.#timer.stop()
    if (isTooLate) return
    this.#failure = { error: this.#errorOf(cause) }
    this.#transport.abort()
    void this.#reader?.cancel()
  }

  #errorOf(cause: unknown): unknown {
    const partial = this.#arrived.isEmpty ? undefined : this.#arrived.response()
    return this.#call.toError(cause, { partial, headers: this.#headers })
  }

  /** Ends at once: nothing that was read is handed out any more. */
  #stop(failure: Failure | undefined): void {
    this.#unlisten?.()
    if (this.#isOver && this.#updates.length === this.#next && this.#failure === undefined) return
    this.#isOver = true
    this.#updates = []
    this.#failure = failure
    this.#timer.stop()
    this.#transport.abort(failure?.error)
    void this.#reader?.cancel(failure?.error)
    this.#settle()
  }

  /** Answers the pulls that wait. A failure is told once; then the stream is over like any other. */
  #settle(): void {
    while (this.#pulls.length > 0) {
      const update = this.#updates[this.#next]
      if (update === undefined && !this.#isOver) {
        void this.#fill()
        return
      }
      const { resolve, reject } = this.#pulls.shift()!
      const failure = this.#failure
      if (update !== undefined) {
        this.#next++
        resolve({ done: false, value: update })
        continue
      }
      this.#failure = undefined
      this.#unlisten?.()
      if (failure === undefined) resolve(done)
      else reject(failure.error)
    }
    this.#timer.rest()
  }

  #parse({ event, data }: SseEvent, isEnd: boolean): unknown {
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      // Without the parser's error: its message quotes the text.
      const words = isEnd
        ? 'the stream broke off inside an event'
        : 'an event of the stream is not JSON'
      throw new TransportFault('truncated_stream', words)
    }
    const report = this.#call.errorIn(recordOf(value), event)
    if (report) throw new InBandFailure(report)
    return value
  }
}
