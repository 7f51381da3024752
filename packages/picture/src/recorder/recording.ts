import type { AgentResponseUpdate, ChatResponseUpdate } from '@lamella/core'
import type { Line, UpdateLine } from '../lines/line.ts'
import { LineWriter } from './line-writer.ts'
import { PartEncoder } from './part-encoder.ts'
import type { RecordedRun, RecorderOptions } from './recorder-options.ts'
import type { Unstamped } from './request-encoder.ts'
import { RequestEncoder } from './request-encoder.ts'

/** Entry that waits to be written: encoded later, so that the run need not wait for it. */
interface Entry {
  readonly t: number
  readonly r: number
  readonly make?: () => Unstamped<Line>
  readonly update?: PassedUpdate
}

interface PassedUpdate {
  readonly value: ChatResponseUpdate | AgentResponseUpdate
  readonly call: number
  readonly from: number
  to: number
  run: number | undefined
}

const drainAfterMs = 20
const mostEntries = 1000

/** The recording of an outermost run, and of the runs inside of it. */
export class Recording {
  readonly parts: PartEncoder
  readonly requests: RequestEncoder
  /** Events that were told: those of a sub-agent reach its caller as well. */
  readonly told: WeakSet<object> = new WeakSet()
  readonly #options: RecorderOptions
  /** Holds this recording as long as something of it waits: a run may never end. */
  readonly #unwritten: Set<Recording>
  readonly #writer: LineWriter
  readonly #onFailure: (error: unknown) => void
  readonly #now: () => number
  readonly #start: number
  readonly #maxBytes: number
  #entries: Entry[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #written = 0
  #dropped = 0

  constructor(
    options: RecorderOptions,
    run: RecordedRun,
    unwritten: Set<Recording>,
    onFailure: (error: unknown) => void,
  ) {
    const { sink, clock = performance, maxBytes = 20_000_000 } = options
    this.#options = options
    this.#unwritten = unwritten
    this.#onFailure = onFailure
    this.#maxBytes = maxBytes
    this.#now = () => clock.now()
    this.#start = clock.now()
    this.parts = new PartEncoder(options)
    this.requests = new RequestEncoder(this.parts)
    this.#writer = new LineWriter(sink, run, (error, lines) => {
      this.#dropped += lines
      onFailure(error)
    })
  }

  get options(): RecorderOptions {
    return this.#options
  }

  /** Lines that were left out so far. */
  get dropped(): number {
    return this.#dropped
  }

  /** Adds a line, which `make` makes when it is written. What it reads must not change until then. */
  add(r: number, make: () => Unstamped<Line>): void {
    this.#push({ t: this.#elapsed(), r, make })
  }

  /** Adds an update that passes a probe; a line of its own only if it did not just pass the one inside. */
  passed(
    r: number,
    call: number,
    probe: number,
    innermost: number,
    value: ChatResponseUpdate | AgentResponseUpdate,
  ): void {
    const last = this.#entries.at(-1)
    const update = last?.r === r ? last.update : undefined
    if (update?.value === value) {
      if (update.call === call && update.to === probe + 1 && update.run === undefined) {
        update.to = probe
        return
      }
      // From the outermost probe of a model call into those of the run.
      const isNext = update.run === undefined ? update.to === 0 && probe === innermost : false
      if (call === 0 && update.call !== 0 && (isNext || update.run === probe + 1)) {
        update.run = probe
        return
      }
    }
    const entry = { value, call, from: probe, to: probe, run: undefined }
    this.#push({ t: this.#elapsed(), r, update: entry })
  }

  /** Writes what is there. */
  async flush(): Promise<void> {
    this.#drain(0)
    await this.#writer.done()
    if (this.#timer === undefined) this.#unwritten.delete(this)
  }

  #elapsed(): number {
    return Math.round((this.#now() - this.#start) * 1000) / 1000
  }

  #push(entry: Entry): void {
    this.#entries.push(entry)
    // The last one may still grow.
    if (this.#entries.length > mostEntries) this.#drain(1)
    if (this.#timer !== undefined) return
    this.#unwritten.add(this)
    this.#timer = setTimeout(() => void this.flush(), drainAfterMs)
  }

  #drain(keep: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const entries = this.#entries.splice(0, this.#entries.length - keep)
    let text = ''
    for (const entry of entries) {
      try {
        text += this.#lines(entry)
      } catch (error) {
        this.#dropped++
        this.#onFailure(error)
      }
    }
    if (text !== '') this.#writer.write(text)
  }

  #lines({ t, r, make, update }: Entry): string {
    const line = make === undefined ? this.#updateLine(update!) : make()
    const before = this.requests.pending
    if (before.length > 0) this.requests.pending = []
    let text = ''
    for (const each of before.length === 0 ? [line] : [...before, line]) {
      const { k, ...rest } = each
      const json = `${JSON.stringify({ k, t, r, ...rest })}\n`
      if (this.#written > this.#maxBytes && k !== 'end') {
        this.#dropped++
        continue
      }
      this.#written += json.length
      text += json
    }
    return text
  }

  #updateLine({ value, call, from, to, run }: PassedUpdate): Unstamped<UpdateLine> {
    const { contents, role, finishReason, usage, restart, scope } = value
    const line: Record<string, unknown> = { k: 'up', c: call, p: from }
    if (to !== from) line['to'] = to
    if (run !== undefined) line['run'] = run
    const [first] = contents
    if (contents.length === 1 && first!.type === 'text' && (role ?? 'assistant') === 'assistant') {
      // A piece alone says nothing to a function that redacts.
      if (this.parts.isFull) line['text'] = first.text
      else line['len'] = first.text.length
    } else if (contents.length > 0) {
      const parts = this.parts.parts(contents)
      line['parts'] = this.parts.isFull ? parts : parts.map(withoutText)
    }
    if (role !== undefined && role !== 'assistant') line['role'] = role
    if (finishReason !== undefined) line['finish'] = this.parts.finish(finishReason)
    if (usage !== undefined) line['usage'] = usage
    if (restart === true) line['restart'] = scope ?? 'call'
    return line as unknown as Unstamped<UpdateLine>
  }
}

function withoutText<P extends { readonly text?: string | undefined; readonly parts?: unknown }>(
  part: P,
): P {
  const { text: _text, parts, ...rest } = part
  return { ...rest, ...(Array.isArray(parts) && { parts: parts.map(withoutText) }) } as P
}
