import { isThenable, pieceOf, withPiece } from '@lamella/core/authoring'
import type { AgentResponseUpdate, Content, UpdateTransformer } from '@lamella/core'
import type { TransformController } from '@lamella/core/authoring'
import { HeldText } from './held-text.ts'
import type { JudgedPart, ScanOptions, ScanWindow } from './scan-options.ts'
import { observes } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

/** Options of {@link holdBackGate}. */
export interface HoldBackOptions extends ScanOptions {
  /**
   * Kinds of text that are judged. Everything else waits behind held text that came before it.
   * @default ['text']
   */
  readonly parts?: readonly JudgedPart[] | undefined
  /**
   * Returns the edits of a window, and throws to block. After a scan that returned a promise, the next one
   * follows after 400 more characters, unless `checkEveryChars` says otherwise.
   */
  readonly scan: (
    window: ScanWindow,
  ) => readonly TextEdit[] | undefined | Promise<readonly TextEdit[] | undefined>
  /** Holds everything until it resolves. Its rejection fails the call. @default nothing is held */
  readonly until?: Promise<unknown> | undefined
  /**
   * Passes the last text of a model call to the next one, to find matches across both. The gates of a run
   * share one.
   * @default texts are joined within this gate alone
   */
  readonly joint?: TextJoint | undefined
}

/** Text that a reader sees directly before the next one. */
export interface TextJoint {
  /** Set by gates. Undefined before the first text. */
  last?: HeldText | undefined
}

/**
 * Holds text back until a guardrail has judged it. It loses and adds nothing, joins text without separators,
 * keeps all contents in order, and has the same result however the text is split into updates. It judges the
 * text of a message as a whole, also around other contents, and the joint with the text before it.
 */
export function holdBackGate(options: HoldBackOptions): UpdateTransformer<AgentResponseUpdate> {
  return new HoldBackGate(options)
}

/** A content in the queue. Without `text` it is not judged. */
interface Part {
  readonly content: Content
  readonly text: HeldText | undefined
  readonly start: number
  readonly end: number
  /** Position up to which it has passed. */
  at: number
}

interface Item {
  readonly update: AgentResponseUpdate
  readonly parts: readonly Part[]
  readonly endsCall: boolean
  /** Index of the first part that has not passed. */
  next: number
  isChanged: boolean
}

class HoldBackGate implements UpdateTransformer<AgentResponseUpdate> {
  readonly #options: HoldBackOptions
  readonly #watched: readonly JudgedPart[]
  /** Keeps contents from passing: `until`, then its rejection, if it rejects. */
  #closedBy: 'until' | { readonly error: unknown } | undefined
  #pace = 1
  #queue: Item[] = []
  /** Texts that may grow. */
  #growing = new Map<string, HeldText>()
  #unfinished: HeldText[] = []
  #messageId: string | undefined
  #role: string | undefined
  /** Last text, and last text that a restart keeps. */
  #last: HeldText | undefined
  #lastKept: HeldText | undefined
  #atEnd = false
  /** Contents that have passed: none, only of earlier calls, or of this call too. */
  #released: 0 | 1 | 2 = 0

  constructor(options: HoldBackOptions) {
    this.#options = options
    this.#last = this.#lastKept = options.joint?.last
    this.#watched = options.parts ?? ['text']
    if (options.until === undefined) return
    this.#closedBy = 'until'
    options.until.then(
      () => {
        this.#closedBy = undefined
      },
      (error: unknown) => {
        this.#closedBy = { error }
      },
    )
  }

  start(): void {
    this.#drop(0)
    this.#last = this.#lastKept
    this.#atEnd = false
    this.#released = 0
  }

  transform(
    update: AgentResponseUpdate,
    controller: TransformController<AgentResponseUpdate>,
  ): void | Promise<void> {
    // A caller may wait to answer an event: events never wait behind text.
    if (update.event !== undefined && update.contents.length === 0) {
      return controller.enqueue(update)
    }
    if (update.restart) {
      const { restart: _, scope, ...rest } = update
      this.#restart(scope, controller)
      if (Object.keys(rest).length > 1 || rest.contents.length > 0) this.#take(rest)
    } else this.#take(update)
    if (observes(this.#options)) this.#release(controller)
    return this.#scan(controller)
  }

  flush(controller: TransformController<AgentResponseUpdate>): void | Promise<void> {
    this.#atEnd = true
    this.#endMessage()
    if (this.#options.joint !== undefined) this.#options.joint.last = this.#last
    const scanning = this.#scan(controller)
    const { until } = this.#options
    return until === undefined
      ? scanning
      : Promise.all([scanning, until]).then(() => this.#release(controller))
  }

  #take(update: AgentResponseUpdate): void {
    const { contents, messageId } = update
    let endsCall = false
    if (contents.length > 0) {
      const role = update.role ?? (contents[0]!.type === 'function-result' ? 'tool' : 'assistant')
      const isOther =
        (messageId && this.#messageId && messageId !== this.#messageId) || role !== this.#role
      if (isOther) this.#endMessage()
      this.#messageId = messageId || this.#messageId
      this.#role = role
      endsCall = role === 'tool'
      if (endsCall) this.#lastKept = this.#last
    }
    const parts = contents.map(this.#toPart)
    this.#queue.push({ update, parts, endsCall, next: 0, isChanged: false })
  }

  // Methods would need a function for each update of a stream: a tenth of what it allocates.
  readonly #toPart = (content: Content): Part => {
    // Reasoning ends where other content begins, which then does not wait behind it.
    if (content.type !== 'reasoning' && content.type !== 'usage') this.#end('reasoning')
    const text = this.#textOf(content)
    const start = text?.end ?? 0
    text?.append(pieceOf(content))
    return { content, text, start, end: text?.end ?? 0, at: start }
  }

  readonly #isWhole = ({ text, end }: Part): boolean =>
    text === undefined || text.leavesWhole(end, this.#atEnd)

  /** Returns the text that a content belongs to, if it is judged. */
  #textOf(content: Content): HeldText | undefined {
    const { type } = content
    const isCall = type === 'function-call'
    const part = isCall ? 'arguments' : (type as JudgedPart)
    if (!this.#watched.includes(part)) return undefined
    const callId = isCall ? content.callId : undefined
    const key = isCall ? `call ${content.index ?? callId}` : part
    let text = this.#growing.get(key)
    if (text === undefined) {
      const isJoined = part === 'text' && this.#role === 'assistant'
      text = new HeldText(part, callId, this.#options, isJoined ? this.#last : undefined)
      if (isJoined) this.#last = text
      this.#growing.set(key, text)
      this.#unfinished.push(text)
    }
    return text
  }

  #end(key: string): void {
    const text = this.#growing.get(key)
    if (text === undefined) return
    text.close()
    this.#growing.delete(key)
  }

  #endMessage(): void {
    for (const key of this.#growing.keys()) this.#end(key)
    this.#messageId = undefined
  }

  /** Scans the windows that are due, then passes on the decided contents. */
  #scan(controller: TransformController<AgentResponseUpdate>): void | Promise<void> {
    for (const text of this.#unfinished) {
      for (let due = text.due(this.#pace); due !== undefined; due = text.due(this.#pace)) {
        const found = this.#options.scan(due)
        if (isThenable(found)) {
          this.#pace = asyncPaceChars
          return found.then((edits) => {
            text.apply(edits ?? [])
            return this.#scan(controller)
          })
        }
        text.apply(found ?? [])
      }
    }
    if (this.#unfinished.some(({ isFinished }) => isFinished)) {
      this.#unfinished = this.#unfinished.filter(({ isFinished }) => !isFinished)
    }
    this.#release(controller)
    return undefined
  }

  #release(controller: TransformController<AgentResponseUpdate>): void {
    if (this.#closedBy === 'until') return
    if (this.#closedBy !== undefined) throw this.#closedBy.error
    let gone = 0
    while (gone < this.#queue.length && this.#leave(this.#queue[gone]!, controller)) gone++
    // `pop` keeps the memory of the list, which most updates need again.
    if (gone === 1 && this.#queue.length === 1) this.#queue.pop()
    else if (gone > 0) this.#queue.splice(0, gone)
  }

  /** Enqueues the decided part of an item. Returns true if that is the whole item. */
  #leave(item: Item, controller: TransformController<AgentResponseUpdate>): boolean {
    const { update, parts } = item
    if (!item.isChanged && parts.every(this.#isWhole)) {
      controller.enqueue(update)
      this.#released = item.endsCall ? 1 : 2
      return true
    }
    const contents: Content[] = []
    for (; item.next < parts.length; item.next++) {
      const part = parts[item.next]!
      const to = part.text ? Math.min(part.end, part.text.limit(this.#atEnd)) : part.end
      if (to > part.at || to === part.end) {
        const content = leaving(part, to)
        if (content !== part.content) item.isChanged = true
        if (content !== undefined) contents.push(content)
      }
      if (to < part.end) break
    }
    const isAll = item.next === parts.length
    if (!isAll && contents.length === 0) return false
    if (!isAll) item.isChanged = true
    controller.enqueue(item.isChanged ? changed(update, contents, isAll) : update)
    this.#released = isAll && item.endsCall ? 1 : 2
    return isAll
  }

  #restart(
    scope: 'call' | 'run' | undefined,
    controller: TransformController<AgentResponseUpdate>,
  ): void {
    const kept = scope === 'run' ? 0 : 1
    if (kept === 0) this.#lastKept = undefined
    this.#last = this.#lastKept
    this.#drop(kept && this.#queue.findLastIndex(({ endsCall }) => endsCall) + 1)
    if (this.#released <= kept) return
    controller.enqueue({ contents: [], restart: true, ...(scope && { scope }) })
    this.#released = kept
  }

  #drop(kept: number): void {
    this.#queue.length = kept
    this.#endMessage()
    this.#unfinished = []
  }
}

const asyncPaceChars = 400

/** Returns a part up to a position, edited, or `undefined` if nothing of it remains. */
function leaving(part: Part, to: number): Content | undefined {
  const { content, text: held, start, end, at } = part
  if (held === undefined) return content
  const piece = pieceOf(content)
  const rendered = held.render(piece, start, at, to)
  part.at = to
  const isEdited = held.firstEdit < to
  if (!isEdited && rendered === piece) return content
  if (rendered === '' && piece !== '' && content.type !== 'function-call') return undefined
  return withPiece(content, rendered, !isEdited && to === end)
}

/**
 * Copies an update with other contents, without the provider's own form of the old ones. Fields about the
 * whole update go with its last part.
 */
function changed(
  update: AgentResponseUpdate,
  contents: readonly Content[],
  isLast: boolean,
): AgentResponseUpdate {
  const { raw: _raw, ...rest } = update
  if (isLast) return { ...rest, contents }
  const { finishReason: _reason, usage: _usage, metadata: _data, event: _event, ...ofEach } = rest
  return { ...ofEach, contents }
}
