import { backgroundTimer } from '@lamella/core/authoring'
import { TransportFault } from '../failures/transport-fault.ts'

/** One event of a `text/event-stream`, as https://html.spec.whatwg.org/#event-stream-interpretation has it. */
export interface SseEvent {
  /** Name of the event, or empty. */
  readonly event: string
  /** Its lines of data, joined by line feeds. */
  readonly data: string
}

/**
 * Reads the events of a body, chunk by chunk. The readers of SDKs hide what decides whether an answer
 * is whole and its server alive: a marker such as `[DONE]`, data without an `event:` line, a last event
 * that was cut off or has no blank line behind it, and comments.
 */
export class SseReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  readonly #longestEventChars: number
  /** Line that has not ended yet. Only new text is searched, so that a long one takes linear time. */
  #unfinished = ''
  #carriage = ''
  #event = ''
  #data: string | undefined
  #isForeign = false

  constructor(body: ReadableStream<Uint8Array>, longestEventChars: number = 2 ** 27) {
    this.#reader = body.getReader()
    this.#longestEventChars = longestEventChars
  }

  /** The events that the next chunk completes, maybe none; `undefined` at the end of the body. */
  async read(): Promise<SseEvent[] | undefined> {
    const { done, value } = await this.#reader.read()
    return done ? undefined : this.#feed(this.#decoder.decode(value, { stream: true }))
  }

  /** True if there were lines that no event stream has. */
  get isForeign(): boolean {
    return this.#isForeign
  }

  /** An event that the body ended in. Servers forget the blank line after the last one. */
  rest(): SseEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`)
  }

  /** Gives the connection back: reads to the end if that is near, else closes it. */
  async release(patienceMs = 1000): Promise<void> {
    const stopTimer = backgroundTimer(() => void this.cancel(), patienceMs)
    try {
      let end = false
      while (!end) end = (await this.#reader.read()).done
    } catch {
      // Whatever happens to the connection now, the answer is there.
    } finally {
      stopTimer()
    }
  }

  /** Closes the connection. */
  async cancel(reason?: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => {})
  }

  #feed(chunk: string): SseEvent[] {
    let text = this.#carriage + chunk
    // It may be half of a `\r\n`.
    this.#carriage = text.endsWith('\r') ? '\r' : ''
    text = text.slice(0, text.length - this.#carriage.length).replace(/\r\n?/g, '\n')
    const events: SseEvent[] = []
    let start = 0
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end === -1) break
      this.#take(this.#unfinished + text.slice(start, end), events)
      this.#unfinished = ''
      start = end + 1
    }
    this.#unfinished += text.slice(start)
    if (this.#unfinished.length + (this.#data?.length ?? 0) > this.#longestEventChars) {
      const words = `an event of the stream is longer than ${this.#longestEventChars} characters`
      throw new TransportFault('server', words, { retryable: false })
    }
    return events
  }

  #take(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data })
      this.#event = ''
      this.#data = undefined
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (field === 'event') this.#event = value
    else if (field !== 'id' && field !== 'retry') this.#isForeign = true
  }
}
