import type { ChatResponseUpdate } from '@lamella/core'
import { ArrivedUpdates } from './arrived-updates.ts'
import type { FailureContext } from './openai-error.ts'
import { failed, InBandFailure, toProviderError } from './openai-error.ts'
import type { SseEvent } from './sse-events.ts'
import { SseReader } from './sse-events.ts'
import { unreadable } from './whole-response.ts'
import { record } from './wire.ts'

/** Makes updates of the events of one API. */
export interface UpdateMapper {
  /** Appends what is new in this event. Throws an `InBandFailure` for what is an error. */
  map(event: unknown, updates: ChatResponseUpdate[]): void
  /** Whether nothing can follow the events so far. */
  readonly isOver: boolean
  /** The body has ended. Returns false if the answer has not. */
  end(hasDoneMarker: boolean): boolean
}

export interface StreamTimeouts {
  /** From the first pull to the first update, the SDK's own repeats included. */
  readonly firstUpdateTimeoutMs: number
  /** Without a byte, while an update is waited for. */
  readonly idleTimeoutMs: number
}

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
  readonly ended: Promise<Step>
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
  #updates: ChatResponseUpdate[] = []
  #next = 0
  #reader: SseReader | undefined
  #pull: Pull | undefined
  #isStarted = false
  #isOver = false
  #failure: { readonly error: unknown } | undefined
  #hasUpdates = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #startedAt = 0
  #aliveAt = 0

  constructor(call: GuardedCall) {
    this.#call = call
    this.#mapper = call.mapper()
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
      return this.#pull.ended.then(again, again)
    }
    let pull: Omit<Pull, 'ended'>
    const ended = new Promise<Step>((resolve, reject) => {
      pull = { resolve, reject }
    })
    this.#pull = { ...pull!, ended }
    this.#start()
    if (!this.#isOver) {
      this.#watch()
      void this.#fill()
    }
    return ended
  }

  async return(): Promise<Step> {
    this.#stop(undefined)
    return done
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#startedAt = performance.now()
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
        this.#aliveAt = performance.now()
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
    const type = response.headers.get('content-type') ?? ''
    if (response.body === null || /\bjson\b|html|xml/i.test(type)) {
      throw unreadable(await response.text(), 'a stream', this.#call.failure)
    }
    return new SseReader(response.body)
  }

  #take(events: readonly SseEvent[], isEnd: boolean): void {
    const mapper = this.#mapper
    const updates = this.#updates
    try {
      for (const event of events) {
        if (event.data === '[DONE]') return this.#finish(true)
        mapper.map(this.#parse(event, isEnd), updates)
        if (mapper.isOver) return this.#finish(false)
      }
      if (isEnd) this.#finish(false)
    } finally {
      for (const update of updates) this.#arrived.add(update)
      if (updates.length > 0 && !this.#hasUpdates) {
        this.#hasUpdates = true
        this.#unwatch()
      }
    }
  }

  #parse({ event, data }: SseEvent, isEnd: boolean): unknown {
    let value: unknown
    try {
      value = JSON.parse(data)
    } catch {
      // Without the parser's error: its message quotes the text.
      throw new Break(isEnd ? 'the stream broke off inside an event' : 'the stream has an event that is not JSON')
    }
    const { error } = record(value)
    if (error) throw new InBandFailure(error)
    if (event === 'error') throw new InBandFailure(value)
    return value
  }

  #finish(hasDoneMarker: boolean): void {
    if (!this.#mapper.end(hasDoneMarker)) throw new Break('the stream broke off before its end')
    this.#isOver = true
    this.#unwatch()
    void this.#reader?.release()
  }

  /** The updates before a failure are still handed out. */
  #fail(cause: unknown): void {
    this.#isOver = true
    const context = this.#context()
    const error =
      cause instanceof Break
        ? failed('truncated_stream', context, { words: cause.words })
        : toProviderError(cause, context)
    this.#failure = { error }
    this.#unwatch()
    this.#transport.abort()
  }

  #context(): FailureContext {
    const partial = this.#arrived.isEmpty ? undefined : this.#arrived.response()
    return { ...this.#call.failure, partial }
  }

  /** Ends at once: nothing that was read is handed out any more. */
  #stop(failure: { readonly error: unknown } | undefined): void {
    if (this.#isOver && this.#updates.length === this.#next) return
    this.#isOver = true
    this.#updates = []
    this.#next = 0
    this.#failure = failure
    this.#unwatch()
    this.#transport.abort(failure?.error)
    void this.#reader?.cancel(failure?.error)
    if (this.#pull !== undefined) this.#settle()
  }

  #settle(): void {
    const pull = this.#pull!
    this.#pull = undefined
    const update = this.#updates[this.#next]
    if (update !== undefined) {
      this.#next++
      pull.resolve({ done: false, value: update })
    } else {
      this.#end().then(pull.resolve, pull.reject)
    }
  }

  /** A failure is told once; then the stream is over like any other. */
  #end(): Promise<Step> {
    const failure = this.#failure
    this.#failure = undefined
    this.#call.signal.removeEventListener('abort', this.#onAbort)
    return failure === undefined ? Promise.resolve(done) : Promise.reject(failure.error)
  }

  /** One timer for the whole stream, which looks again when it was too early. */
  #watch(): void {
    this.#aliveAt = performance.now()
    this.#timer ??= this.#timerIn(this.#limitMs)
  }

  #timerIn(ms: number): ReturnType<typeof setTimeout> | undefined {
    if (ms === Infinity) return undefined
    const timer = setTimeout(this.#look, Math.max(1, ms))
    timer.unref?.()
    return timer
  }

  readonly #look = (): void => {
    this.#timer = undefined
    if (this.#pull === undefined) return
    const since = this.#hasUpdates ? this.#aliveAt : this.#startedAt
    const leftMs = since + this.#limitMs - performance.now()
    if (leftMs > 0) {
      this.#timer = this.#timerIn(leftMs)
      return
    }
    const words = this.#hasUpdates
      ? `no data for ${this.#limitMs} ms`
      : `no answer within ${this.#limitMs} ms`
    this.#stop({ error: failed('timeout', this.#context(), { words }) })
  }

  get #limitMs(): number {
    const { firstUpdateTimeoutMs, idleTimeoutMs } = this.#call.timeouts
    return this.#hasUpdates ? idleTimeoutMs : firstUpdateTimeoutMs
  }

  #unwatch(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
