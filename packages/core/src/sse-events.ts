import { backgroundTimer } from './background-timer.ts'

/** One event of a `text/event-stream`, as https://html.spec.whatwg.org/#event-stream-interpretation has it. */
export interface SseEvent {
  readonly event: string
  readonly data: string
}

const byteOrderMark = '\uFEFF'

/**
 * Reads the events of a body, chunk by chunk. The readers of SDKs hide what decides whether an answer
 * is whole and its server alive: a marker such as `[DONE]`, data without an `event:` line, a last event
 * that was cut off or has no blank line behind it, and comments.
 */
export class SseReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #rest = ''
  #searched = 0
  #event = ''
  #data: string | undefined
  #atStart = true
  #isForeign = false

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** The events that the next chunk completes, maybe none; `undefined` at the end of the body. */
  async read(): Promise<SseEvent[] | undefined> {
    const { done, value } = await this.#reader.read()
    return done ? undefined : this.#feed(this.#decoder.decode(value, { stream: true }))
  }

  /** Whether there were lines that no event stream has. */
  get isForeign(): boolean {
    return this.#isForeign
  }

  /** An event that the body ended in. Servers forget the blank line after the last one. */
  rest(): SseEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`)
  }

  /** Gives the connection back: reads to the end if that is near, else closes it. */
  async release(patienceMs = 1000): Promise<void> {
    const timer = backgroundTimer(() => void this.cancel(), patienceMs)
    try {
      let end = false
      while (!end) end = (await this.#reader.read()).done
    } catch {
      // Whatever happens to the connection now, the answer is there.
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes the connection. */
  async cancel(reason?: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => {})
  }

  #feed(text: string): SseEvent[] {
    const events: SseEvent[] = []
    let buffer = this.#rest === '' ? text : this.#rest + text
    if (this.#atStart && buffer !== '') {
      this.#atStart = false
      if (buffer.startsWith(byteOrderMark)) buffer = buffer.slice(1)
    }
    const hasCarriage = buffer.includes('\r')
    let start = 0
    for (;;) {
      const from = Math.max(start, this.#searched)
      const end = hasCarriage ? firstBreak(buffer, from) : buffer.indexOf('\n', from)
      // A `\r` at the very end may be half of a `\r\n`.
      if (end === -1 || (buffer[end] === '\r' && end === buffer.length - 1)) break
      this.#line(buffer.slice(start, end), events)
      start = end + (buffer[end] === '\r' && buffer[end + 1] === '\n' ? 2 : 1)
      this.#searched = 0
    }
    this.#rest = start === 0 ? buffer : buffer.slice(start)
    this.#searched = Math.max(0, this.#rest.length - 1)
    return events
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data })
      this.#event = ''
      this.#data = undefined
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    let value = colon === -1 ? '' : line.slice(colon + 1)
    if (value.startsWith(' ')) value = value.slice(1)
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (field === 'event') this.#event = value
    else if (field !== 'id' && field !== 'retry') this.#isForeign = true
  }
}

function firstBreak(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10 || code === 13) return at
  }
  return -1
}
