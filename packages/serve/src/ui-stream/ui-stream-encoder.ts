import type { Encoder, Shown, ShownOutcome, ShownRequest } from '../chats/shown.ts'
import type { ChatPart } from '../reader/answer-fold.ts'
import { answerFold } from '../reader/answer-fold.ts'
import type { UiChunk } from './part-chunks.ts'
import { openingOf, PartChunks } from './part-chunks.ts'

/** Ways to send a restart to a reader. */
export type Restarts = 'reset' | 'hold' | 'error'

/** A call that the reader's message has from before, and its answer. */
export interface AnsweredCall {
  readonly callId: string
  /** True if the call was approved, and the reader waits for its result. */
  readonly waits: boolean
}

/**
 * Writes a run as chunks of the AI SDK's UI message stream.
 *
 * The stream has no chunk that takes back a finished step. So with `reset` a run is one step while it
 * lasts, which `reset-step` takes back; what a restart leaves is sent again. At its end a run of several
 * model calls is sent again in its steps. With `hold` nothing is sent before the end, with `error` a
 * restart ends the stream.
 */
export class UiStreamEncoder implements Encoder {
  readonly #restarts: Restarts
  readonly #answered: readonly AnsweredCall[]
  readonly #parts: ChatPart[] = []
  readonly #fold = answerFold(this.#parts)
  /** Numbers of parts at the ends of model calls with their tools. */
  #ends: number[] = []
  #chunks: PartChunks
  #usage: unknown
  #isOver = false
  #hasBegun = false

  constructor(restarts: Restarts, answered: readonly AnsweredCall[]) {
    this.#restarts = restarts
    this.#answered = answered
    this.#chunks = new PartChunks(this.#known())
  }

  encode(shown: Shown): string {
    if (this.#isOver) return ''
    const chunks = this.#begin()
    if (shown.type === 'update') chunks.push(...this.#update(shown.update as Update))
    else if (shown.type === 'done') chunks.push(...this.#end(shown.outcome, shown.asked))
    else chunks.push(...this.#fail(shown.failure.code))
    const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
    return this.#isOver ? `${text}data: [DONE]\n\n` : text
  }

  #begin(): UiChunk[] {
    if (this.#hasBegun) return []
    this.#hasBegun = true
    return [{ type: 'start' }, { type: 'start-step' }]
  }

  #update(update: Update): UiChunk[] {
    const { contents, role, restart, event, usage } = update
    if (usage !== undefined) this.#usage = usage
    if (restart === true) return this.#restart(update)
    this.#fold(update)
    const isShown = role !== 'user' && role !== 'system' && this.#restarts !== 'hold'
    const chunks = isShown ? contents.flatMap((part) => this.#chunks.add(part)) : []
    if (event !== undefined) {
      chunks.push({ type: `data-${event.type}`, data: event.data ?? null, transient: true })
    }
    if (role !== 'tool') return chunks
    this.#ends.push(this.#parts.length)
    if (this.#restarts === 'hold') return chunks
    chunks.push(...this.#chunks.finish())
    if (this.#restarts === 'error') chunks.push({ type: 'finish-step' }, { type: 'start-step' })
    return chunks
  }

  #restart(update: Update): UiChunk[] {
    if (this.#restarts === 'error') return this.#fail('stream_restarted')
    this.#fold(update)
    const kept = this.#parts.length
    this.#ends = this.#ends.filter((end) => end <= kept && kept > 0)
    if (this.#restarts === 'hold') return []
    this.#chunks = new PartChunks(this.#known())
    return [{ type: 'reset-step' }, ...this.#parts.flatMap((part) => this.#chunks.add(part))]
  }

  #end({ status, message, pending }: ShownOutcome, asked: ReadonlySet<string>): UiChunk[] {
    const chunks = this.#restarts === 'error' ? this.#chunks.finish() : this.#inSteps()
    for (const { callId, waits } of this.#answered) {
      if (waits && !this.#chunks.hasResult(callId)) {
        chunks.push({ type: 'tool-output-available', toolCallId: callId, output: null })
      }
    }
    for (const request of pending) if (asked.has(request.id)) chunks.push(...this.#ask(request))
    chunks.push({ type: 'finish-step' })
    this.#isOver = true
    if (status === 'stopped') return [...chunks, { type: 'abort' }]
    // A message that has joined another run has no answer of its own, and makes no message in the page.
    if (status === 'delivered') return [...chunks, { type: 'finish' }]
    const messageMetadata = {
      status,
      ...(message !== undefined && { message }),
      ...(pending.length > 0 && {
        pending: pending.map(({ id, mayAnswer }) => ({ id, mayAnswer })),
      }),
      ...(this.#usage !== undefined && { usage: this.#usage }),
    }
    const finishReason = Object.hasOwn(reasons, status) ? reasons[status] : 'stop'
    return [...chunks, { type: 'finish', finishReason, messageMetadata }]
  }

  /** Everything again, in the steps of its model calls, if it has more than one. */
  #inSteps(): UiChunk[] {
    const isHeld = this.#restarts === 'hold'
    const ends = this.#ends.filter((end) => end < this.#parts.length)
    if (!isHeld && ends.length === 0) return this.#chunks.finish()
    this.#chunks = new PartChunks(this.#known())
    const chunks: UiChunk[] = isHeld ? [] : [...this.#chunks.finish(), { type: 'reset-step' }]
    for (const [at, part] of this.#parts.entries()) {
      if (ends.includes(at)) {
        chunks.push(...this.#chunks.finish(), { type: 'finish-step' }, { type: 'start-step' })
      }
      chunks.push(...this.#chunks.add(part))
    }
    return [...chunks, ...this.#chunks.finish()]
  }

  #ask({ id, kind, callId, name, arguments: args = '' }: ShownRequest): UiChunk[] {
    if (callId === undefined || name === undefined) {
      return [{ type: 'data-interrupt', id, data: { id } }]
    }
    const call = this.#chunks.has(callId)
      ? []
      : [...this.#chunks.add(openingOf(callId, name, args)), ...this.#chunks.finish()]
    return kind === 'approval'
      ? [...call, { type: 'tool-approval-request', approvalId: id, toolCallId: callId }]
      : call
  }

  #fail(code: string): UiChunk[] {
    this.#isOver = true
    return [{ type: 'error', errorText: code }]
  }

  #known(): readonly string[] {
    return this.#answered.map(({ callId }) => callId)
  }
}

type Update = Parameters<ReturnType<typeof answerFold>>[0] & { readonly usage?: unknown }

const reasons: Readonly<Record<string, string>> = {
  paused: 'tool-calls',
  blocked: 'content-filter',
  budget_exhausted: 'length',
}
