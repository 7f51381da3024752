import type { Encoder, Shown, ShownOutcome, ShownRequest } from '../chats/shown.ts'
import type { ChatPart } from '../reader/answer-fold.ts'
import { answerFold } from '../reader/answer-fold.ts'

/** An event of AG-UI. */
interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** Ids of a run, and the messages of its reader. */
export interface AgUiRun {
  readonly threadId: string
  readonly runId: string
  /** Messages of the reader's conversation, as it sent them. */
  readonly messages: readonly unknown[]
  /** True for a reader of version 1. */
  readonly isOne: boolean
}

type Update = Parameters<ReturnType<typeof answerFold>>[0]

/**
 * Writes a run as events of AG-UI. A restart is a snapshot of the earlier messages, followed by the
 * remaining ones under new ids.
 */
export class AgUiEncoder implements Encoder {
  readonly #run: AgUiRun
  readonly #parts: ChatPart[] = []
  readonly #fold = answerFold(this.#parts)
  readonly #calls = new Map<string, { isOpen: boolean }>()
  #open:
    | {
        readonly kind: 'TEXT_MESSAGE' | 'REASONING_MESSAGE'
        readonly of: string
        readonly messageId: string
      }
    | undefined
  #count = 0
  /** Ids of calls by their place in the response, for pieces without an id. */
  readonly #callAt = new Map<unknown, string>()
  #isOver = false
  #hasBegun = false

  constructor(run: AgUiRun) {
    this.#run = run
  }

  encode(shown: Shown): string {
    if (this.#isOver) return ''
    const events = this.#begin()
    if (shown.type === 'update') events.push(...this.#update(shown.update as Update))
    else if (shown.type === 'done') events.push(...this.#end(shown.outcome, shown.asked))
    else {
      this.#isOver = true
      const { code, message } = shown.failure
      events.push(...this.#finish(), { type: 'RUN_ERROR', message, code })
    }
    return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  }

  #begin(): AgUiEvent[] {
    if (this.#hasBegun) return []
    this.#hasBegun = true
    const { threadId, runId } = this.#run
    return [{ type: 'RUN_STARTED', threadId, runId }]
  }

  #update(update: Update): AgUiEvent[] {
    const { contents, role, restart, event } = update
    this.#fold(update)
    if (restart === true) {
      const closing = this.#finish()
      this.#calls.clear()
      const snapshot = { type: 'MESSAGES_SNAPSHOT', messages: this.#run.messages }
      return [
        ...closing,
        snapshot,
        ...this.#parts.flatMap((part) => this.#part(part)),
        ...this.#finish(),
      ]
    }
    const events =
      role === 'user' || role === 'system' ? [] : contents.flatMap((part) => this.#part(part))
    if (event !== undefined) {
      events.push({ type: 'CUSTOM', name: `lamella.${event.type}`, value: event.data ?? null })
    }
    return role === 'tool' ? [...events, ...this.#finish()] : events
  }

  #part(part: ChatPart): AgUiEvent[] {
    const { type, text = '' } = part
    if (type === 'text' || type === 'refusal') return this.#piece('TEXT_MESSAGE', type, text)
    if (type === 'reasoning') return this.#piece('REASONING_MESSAGE', type, text)
    if (type === 'function-call') return this.#call(part)
    if (type === 'function-result') return this.#result(part)
    return []
  }

  #piece(kind: 'TEXT_MESSAGE' | 'REASONING_MESSAGE', of: string, delta: string): AgUiEvent[] {
    const events: AgUiEvent[] = []
    if (this.#open?.of !== of) {
      events.push(...this.#finishMessage())
      const messageId = `${this.#run.runId}-${this.#count++}`
      this.#open = { kind, of, messageId }
      const role = kind === 'TEXT_MESSAGE' ? 'assistant' : 'reasoning'
      if (kind === 'REASONING_MESSAGE') events.push({ type: 'REASONING_START', messageId })
      events.push({ type: `${kind}_START`, messageId, role })
    }
    if (delta === '') return events
    return [...events, { type: `${kind}_CONTENT`, messageId: this.#open.messageId, delta }]
  }

  /** Pieces of several calls may alternate, so a call stays open while others begin. */
  #call({ callId: given, name = '', arguments: delta = '', index }: ChatPart): AgUiEvent[] {
    const callId = given || (this.#callAt.get(index) ?? '')
    const events: AgUiEvent[] = []
    if (!this.#calls.has(callId)) {
      events.push(...this.#finishMessage())
      this.#calls.set(callId, { isOpen: true })
      events.push({ type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name })
    }
    this.#callAt.set(index, callId)
    if (delta === '' || !this.#calls.get(callId)!.isOpen) return events
    return [...events, { type: 'TOOL_CALL_ARGS', toolCallId: callId, delta }]
  }

  #result({ callId = '', name = '', contents = [], error }: ChatPart): AgUiEvent[] {
    const call =
      this.#calls.has(callId) || this.#isKnown(callId)
        ? []
        : this.#call({ type: 'function-call', callId, name })
    const content =
      error === undefined ? contents.map(({ text = '' }) => text).join('') : `Error: ${error.code}`
    const messageId = `${this.#run.runId}-${this.#count++}`
    return [
      ...call,
      ...this.#finish(),
      { type: 'TOOL_CALL_RESULT', messageId, toolCallId: callId, content },
    ]
  }

  #isKnown(callId: string): boolean {
    return JSON.stringify(this.#run.messages).includes(JSON.stringify(callId))
  }

  /** Ends what is open: a message, and calls. */
  #finish(): AgUiEvent[] {
    const events = this.#finishMessage()
    for (const [toolCallId, call] of this.#calls) {
      if (call.isOpen) events.push({ type: 'TOOL_CALL_END', toolCallId })
      call.isOpen = false
    }
    return events
  }

  #finishMessage(): AgUiEvent[] {
    if (this.#open === undefined) return []
    const { kind, messageId } = this.#open
    this.#open = undefined
    const end = { type: `${kind}_END`, messageId }
    return kind === 'REASONING_MESSAGE' ? [end, { type: 'REASONING_END', messageId }] : [end]
  }

  #end({ status, message, pending }: ShownOutcome, asked: ReadonlySet<string>): AgUiEvent[] {
    this.#isOver = true
    const { threadId, runId, isOne } = this.#run
    const open = pending.filter(({ id }) => asked.has(id))
    const calls = open.flatMap((request) => this.#pending(request))
    const interrupts = open.map(({ id, kind, callId, name, mayAnswer }) => ({
      id,
      reason: kind === 'interrupt' ? 'lamella:interrupt' : 'tool_call',
      ...(callId !== undefined && { toolCallId: callId }),
      metadata: { kind, mayAnswer, ...(name !== undefined && { name }) },
    }))
    const outcome =
      interrupts.length > 0
        ? { type: 'interrupt', interrupts }
        : status === 'stopped' && isOne
          ? { type: 'cancelled' }
          : { type: 'success' }
    const result = { status, ...(message !== undefined && { message }) }
    return [...this.#finish(), ...calls, { type: 'RUN_FINISHED', threadId, runId, result, outcome }]
  }

  #pending({ callId, name, arguments: args = '' }: ShownRequest): AgUiEvent[] {
    if (callId === undefined || name === undefined || this.#calls.has(callId)) return []
    return [
      ...this.#call({ type: 'function-call', callId, name, arguments: args }),
      ...this.#finish(),
    ]
  }
}
