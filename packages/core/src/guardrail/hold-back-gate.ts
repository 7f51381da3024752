import { isThenable } from '../base/promises.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import { pieceOf, withPiece } from '../messages/content-text.ts'
import type { Content } from '../messages/content.ts'
import type { TransformController, UpdateTransformer } from '../stream/update-transformer.ts'
import { HeldText } from './held-text.ts'
import type { JudgedPart, ScanOptions, ScanWindow } from './scan-options.ts'
import { observes } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

export interface HoldBackOptions extends ScanOptions {
  /**
   * What is watched; all else waits behind held text that came before it.
   * @default ['text']
   */
  readonly parts?: readonly JudgedPart[] | undefined
  /**
   * Finds what is to be replaced or to block. A block of the text as a whole is thrown. A promise is
   * waited for; a scan that gave one is asked again only after 400 more characters, unless
   * `checkEveryChars` says otherwise.
   */
  readonly scan: (
    window: ScanWindow,
  ) => readonly TextEdit[] | undefined | Promise<readonly TextEdit[] | undefined>
  /** Nothing leaves before it resolves; the call fails with what it rejects with. */
  readonly until?: Promise<unknown> | undefined
  /**
   * Keeps the last text of a model call for the next one, so that what is said in pieces is found. The
   * gates of a run share one.
   * @default texts are joined within the gate alone
   */
  readonly joint?: TextJoint | undefined
}

/** The text that a reader sees right before the next one. */
export interface TextJoint {
  /** Set by gates. */
  last?: HeldText | undefined
}

/**
 * Holds text back until a guardrail has judged it: the one stage that output guardrails use. It loses and
 * adds nothing, joins text without separators, keeps all parts in order, and comes to the same
 * result however the text was cut. Text is judged by message, across other
 * parts that stand in it, and once more together with the end of the text before.
 */
export function holdBackGate(options: HoldBackOptions): UpdateTransformer<AgentResponseUpdate> {
  return new HoldBackGate(options)
}

/** A content in the queue. Without `text` it is not watched. */
interface Part {
  readonly content: Content
  readonly text: HeldText | undefined
  readonly start: number
  readonly end: number
  /** Up to where it has left. */
  at: number
}

interface Item {
  readonly update: AgentResponseUpdate
  readonly parts: readonly Part[]
  readonly endsCall: boolean
  /** Index of the first part that has not left. */
  next: number
  isChanged: boolean
}

class HoldBackGate implements UpdateTransformer<AgentResponseUpdate> {
  readonly #options: HoldBackOptions
  readonly #watched: readonly JudgedPart[]
  /** Returns true once anything may leave. Throws what `until` rejected with. */
  #isOpen: () => boolean
  #pace = 1
  #queue: Item[] = []
  /** Texts that may go on. */
  #growing = new Map<string, HeldText>()
  #unfinished: HeldText[] = []
  #messageId: string | undefined
  #role: string | undefined
  /** The last text, and the last one of what a restart leaves as it is. */
  #last: HeldText | undefined
  #lastKept: HeldText | undefined
  #atEnd = false
  /** What has left: nothing, only of earlier calls, or of this call too. */
  #released: 0 | 1 | 2 = 0

  constructor(options: HoldBackOptions) {
    this.#options = options
    this.#last = this.#lastKept = options.joint?.last
    this.#watched = options.parts ?? ['text']
    this.#isOpen = () => options.until === undefined
    options.until?.then(
      () => {
        this.#isOpen = () => true
      },
      (error: unknown) => {
        this.#isOpen = () => {
          throw error
        }
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
    // Someone may be waiting for the answer to an event: it never waits behind text.
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
    const parts = contents.map((content): Part => {
      // Thinking ends where something else begins, so that what follows does not wait behind it.
      if (content.type !== 'reasoning' && content.type !== 'usage') this.#end('reasoning')
      const text = this.#textOf(content)
      const start = text?.end ?? 0
      text?.append(pieceOf(content))
      return { content, text, start, end: text?.end ?? 0, at: start }
    })
    this.#queue.push({ update, parts, endsCall, next: 0, isChanged: false })
  }

  /** The text that a content is a piece of, if it is watched. */
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

  /** Scans what is due, then releases what may leave. */
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
    if (!this.#isOpen()) return
    let gone = 0
    while (gone < this.#queue.length && this.#leave(this.#queue[gone]!, controller)) gone++
    // A pop keeps the memory of the list, which most updates need again.
    if (gone === 1 && this.#queue.length === 1) this.#queue.pop()
    else if (gone > 0) this.#queue.splice(0, gone)
  }

  /** Enqueues what may leave of an item. Returns true if that is all of it. */
  #leave(item: Item, controller: TransformController<AgentResponseUpdate>): boolean {
    const { update, parts } = item
    if (item.next === 0 && !item.isChanged && parts.every((part) => this.#isWhole(part))) {
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

  #isWhole({ text, at, start, end }: Part): boolean {
    return text === undefined || (at === start && text.leavesWhole(end, this.#atEnd))
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
    this.#growing.clear()
    this.#unfinished = []
    this.#messageId = this.#role = undefined
  }
}

const asyncPaceChars = 400

/** Returns what leaves of a part up to a position, or nothing if all of it was taken out. */
function leaving(part: Part, to: number): Content | undefined {
  const { content, text: held, start, end, at } = part
  if (held === undefined) return content
  const piece = pieceOf(content)
  const rendered = held.render(piece, start, at, to)
  part.at = to
  const isEdited = held.firstEdit < to
  if (at === start && to === end && !isEdited && rendered === piece) return content
  if (rendered === '' && piece !== '' && content.type !== 'function-call') return undefined
  return withPiece(content, rendered, !isEdited && to === end)
}

/**
 * Copies an update with other contents, without the provider's own form of the old ones. Fields that tell of
 * a whole update go with the last part of it.
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
