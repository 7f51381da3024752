import { none } from '../base/none.ts'
import type { RunMessages } from '../contract/run.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import { isSameCall } from '../messages/call-results.ts'
import { matchResults } from '../messages/match-results.ts'
import { keepOpenCalls, unansweredFrom, unreadOf } from '../messages/open-turns.ts'

type Rewriter = (messages: readonly Message[]) => readonly Message[]

/** The journal that a conversation follows from. */
interface Owner {
  /** Answers to requests, by their position in the run. */
  readonly answers: ReadonlyMap<string, unknown>
  /** True unless the journal has what was rewritten before the loop began. */
  readonly mayEdit: boolean
  record(step: { readonly kind: 'rewrite'; readonly messages: readonly Message[] }): void
}

/** The conversation of one run: history, input, and messages of the run. */
export class RunConversation implements RunMessages {
  /** Frozen, since an edit in place would change nothing. */
  #all: readonly Message[] = none
  /** Messages before those that this run has added since the last rewrite. */
  #base: readonly Message[] = none
  /** The base of a resumed run, as its journal has it. */
  #replayed: ReadonlySet<Message> = noMessages
  /** Ids of messages added before the last rewrite; the rewritten list replaces them. */
  #absorbed: Set<string> | undefined
  #added: readonly Message[] = none
  /** Effects of this run whose messages were taken back. */
  #done: readonly Message[] = none
  /** Ids of the messages of this run, and of those that no model has read. */
  #current: string[] = []
  #unread: string[] = []
  /** True once `begin` was called. */
  begun = false
  /** Depth of the agent middleware that runs before the loop begins. */
  depth = 0
  #history: readonly Message[] = none
  #input: readonly Message[] = none
  /** Rewrites that hold when the loop begins, again too, with the depth of their middleware. */
  #lasting: { readonly depth: number; readonly rewriter: Rewriter }[] | undefined
  #executing: readonly FunctionCallContent[] = none
  /** Called before each rewrite. */
  onEdit: (() => void) | undefined
  readonly #owner: Owner

  constructor(owner: Owner) {
    this.#owner = owner
  }

  get all(): readonly Message[] {
    return this.begun ? this.#all : this.startOf(Infinity)
  }

  /** Conversation that the middleware at `depth` starts from. */
  startOf(depth: number): readonly Message[] {
    const edits = (this.#lasting ?? []).filter((entry) => entry.depth < depth)
    return edits.reduce<readonly Message[]>(
      (messages, { rewriter }) => Object.freeze([...this.#rewritten(messages, rewriter)]),
      Object.freeze([...this.#history, ...this.#input]),
    )
  }

  get current(): readonly Message[] {
    return withIds(this.#all, this.#current)
  }

  get unread(): readonly Message[] {
    return withIds(this.#all, this.#unread)
  }

  /** Shows what the run starts from while its agent middleware may still edit it. */
  open(history: readonly Message[], input: readonly Message[]): void {
    this.#history = history
    this.#input = input
  }

  /** The middleware at `depth` runs: rewrites of those inside it are undone, since they will run again. */
  enter(depth: number): void {
    this.depth = depth
    this.#lasting = this.#lasting?.filter((entry) => entry.depth < depth)
  }

  /** The middleware at `depth` is done, and the one outside it runs. */
  leave(depth: number): void {
    this.depth = depth - 1
  }

  /** These calls are being executed: a rewrite has to keep them. */
  execute(calls: readonly FunctionCallContent[]): void {
    this.#executing = calls
  }

  /** Messages that this run has added, in order, regardless of rewrites. */
  get added(): readonly Message[] {
    return this.#added
  }

  /** Messages of effects that `withhold` has left in the conversation. */
  get done(): readonly Message[] {
    return this.#done
  }

  begin(messages: readonly Message[]): void {
    this.begun = true
    this.#done = none
    this.#all = Object.freeze([...messages])
    this.#unread = unreadOf(messages).map(idOf)
    this.#current = [...this.#unread, ...messages.slice(unansweredFrom(messages)).map(idOf)]
    this.#reset()
  }

  /** The loop begins, with the rewrites made before. */
  repeatEdits(): void {
    this.#lasting?.forEach(({ rewriter }) => this.#rewrite(rewriter))
  }

  /** Makes all replayed messages those from before the run. */
  settle(): void {
    this.#reset()
    this.#replayed = new Set(this.#base)
  }

  #reset(): void {
    this.#base = this.#all
    this.#added = none
    this.#absorbed = undefined
  }

  /** Adds the response of a model, which has read everything before it. */
  respond(messages: readonly Message[]): void {
    this.add(messages)
    this.#unread = []
  }

  add(messages: readonly Message[]): void {
    this.#added = [...this.#added, ...messages]
    this.#all = Object.freeze([...this.#all, ...messages])
    this.#join(messages)
  }

  /** Replaces the message with the same id. */
  replace(changed: Message): void {
    const swap = (entry: Message): Message => (entry.id === changed.id ? changed : entry)
    this.#all = Object.freeze(this.#all.map(swap))
    this.#added = this.#added.map(swap)
    this.#base = this.#base.map(swap)
  }

  /** Inserts a message at `index`, among the messages from before the run. */
  insert(index: number, entry: Message): void {
    if (index > this.#base.length) {
      this.add([entry])
      return
    }
    this.#base = this.#base.toSpliced(index, 0, entry)
    this.#all = Object.freeze(this.#all.toSpliced(index, 0, entry))
    this.#added = [...this.#added, entry]
    this.#join([entry])
    ;(this.#absorbed ??= new Set()).add(entry.id)
  }

  /**
   * Runs `work`, which may rewrite the conversation, and returns the messages that replace `said`,
   * the last ones added: the same list if they did not change.
   */
  async revised(said: readonly Message[], work: () => Promise<void>): Promise<readonly Message[]> {
    const before = new Set(this.#all.map(({ id }) => id))
    for (const { id } of said) before.delete(id)
    await work()
    const revised = this.#all.filter(({ id }) => !before.has(id))
    const isSame =
      revised.length === said.length && revised.every((entry, at) => entry === said[at])
    return isSame ? said : revised
  }

  /** Takes `messages`, which a rewrite has put in, for the last `count` that this run added. */
  revise(count: number, messages: readonly Message[]): void {
    this.#added = [...this.#added.slice(0, this.#added.length - count), ...messages]
    for (const { id } of messages) this.#absorbed?.add(id)
  }

  /** Removes the messages that this run has added, except `effects`, which count as from before it. */
  withhold(effects: readonly Message[]): void {
    this.#base = this.#onlyEffects(effects)
    this.#all = Object.freeze([...this.#base])
    this.#added = none
    this.#done = effects
  }

  /** The conversation, of whose messages of this run only `effects` stay. */
  #onlyEffects(effects: readonly Message[]): readonly Message[] {
    const own = new Map(effects.map((entry) => [entry.id, entry]))
    const gone = new Set(this.#added.map(({ id }) => id))
    const base = this.#base.flatMap((entry) => {
      const kept = own.get(entry.id) ?? (gone.has(entry.id) ? undefined : entry)
      own.delete(entry.id)
      return kept ?? []
    })
    return [...base, ...own.values()]
  }

  /** @throws MiddlewareContractError if it cannot count any more */
  rewrite(rewriter: Rewriter): void {
    this.onEdit?.()
    if (!this.#owner.mayEdit) return
    ;(this.#lasting ??= []).push({ depth: this.depth, rewriter })
    if (this.begun) this.#rewrite(rewriter)
  }

  #rewrite(rewriter: Rewriter): void {
    this.#owner.record({ kind: 'rewrite', messages: this.#rewritten(this.#all, rewriter) })
  }

  #rewritten(messages: readonly Message[], rewriter: Rewriter): readonly Message[] {
    const rewritten = rewriter(messages)
    const executing = this.#executing
    const lost = executing.find((call) => !hasCall(rewritten, call))
    if (lost !== undefined) {
      const problem = `run.messages.rewrite() removed the call "${lost.name}", which is being executed; afterModelCall can remove it`
      throw new MiddlewareContractError('', problem)
    }
    const own = new Set(this.#added.map(({ id }) => id))
    // Nobody waits for a new call, and an answer has found its call once calls are executed.
    const isFree = (entry: Message, at: number): boolean =>
      (own.has(entry.id) && !isAskedFor(entry, at)) ||
      (executing.length > 0 && this.#owner.answers.has(`${entry.id}:${at}`))
    return withoutStrays(messages, keepOpenCalls(messages, rewritten, isFree))
  }

  #join(messages: readonly Message[]): void {
    for (const { id } of messages) {
      this.#current.push(id)
      this.#unread.push(id)
    }
  }

  /** Replaces the conversation. New messages behind those from before the run belong to the run. */
  replaceAll(rewritten: readonly Message[]): void {
    const before = new Set(this.#all.map(({ id }) => id))
    const current = new Set(this.#current)
    const isOwn = ({ id }: Message): boolean => current.has(id) || !before.has(id)
    const start = rewritten.findLastIndex((entry) => !isOwn(entry)) + 1
    this.#join(rewritten.slice(start).filter(({ id }) => !before.has(id)))
    this.#base = rewritten
    this.#all = Object.freeze([...rewritten])
    const absorbed = (this.#absorbed ??= new Set())
    for (const { id } of this.#added) absorbed.add(id)
  }

  /**
   * Returns the session's messages after a run with the final `messages`; `between` is inserted
   * before those. Messages that a resumed run has replayed stay as they are in `saved`: agent
   * middleware has changed them for the session before the pause.
   */
  history(
    messages: readonly Message[],
    between: readonly Message[],
    saved: readonly Message[] = [],
  ): readonly Message[] {
    const absorbed = this.#absorbed
    const kept = absorbed === undefined ? messages : messages.filter(({ id }) => !absorbed.has(id))
    return this.#saved(saved, this.#asSaved(saved), between, kept)
  }

  /** Returns the session's messages after a run of which only `effects` stay. */
  historyOfEffects(
    effects: readonly Message[],
    between: readonly Message[],
    saved: readonly Message[],
  ): readonly Message[] {
    const base = new Set(this.#base.map(({ id }) => id))
    const rest = this.#asSaved(saved, this.#onlyEffects(effects))
    const isOwn = ({ id }: Message): boolean => !base.has(id)
    const own = rest.filter(isOwn)
    return this.#saved(
      saved,
      rest.filter((entry) => !isOwn(entry)),
      between,
      own,
    )
  }

  /** The session's messages. Results that no model has read say so where what others have said follows them. */
  #saved(
    saved: readonly Message[],
    first: readonly Message[],
    between: readonly Message[],
    rest: readonly Message[],
  ): readonly Message[] {
    const own = between.length === 0 ? first : merged(saved, first, new Set(between))
    const all = withoutStrays(saved, [...own, ...rest])
    if (between.length === 0) return all
    const unread = new Set(this.#unread)
    for (const entry of unreadOf(saved)) if (between.includes(entry)) unread.add(entry.id)
    const recordedAfter = all.at(-1)!.id
    return all.map((entry) =>
      entry.role === 'tool' && unread.has(entry.id)
        ? { ...entry, metadata: { ...entry.metadata, recordedAfter } }
        : entry,
    )
  }

  /** Messages as the session has them. What was removed there since a pause stays away, unless a result needs its call. */
  #asSaved(saved: readonly Message[], base = this.#base): readonly Message[] {
    const replayed = this.#replayed
    const known = new Map(saved.map((entry) => [entry.id, entry]))
    if (!base.some((entry) => replayed.has(entry) && known.has(entry.id))) return base
    const { results } = matchResults(base)
    const resultsOf = ({ contents }: Message): readonly unknown[] =>
      contents.flatMap((part) => results.get(part as FunctionCallContent) ?? [])
    const isGone = (entry: Message): boolean => replayed.has(entry) && !known.has(entry.id)
    const fresh = new Set<unknown>(base.flatMap((entry) => (isGone(entry) ? [] : entry.contents)))
    const back = base.filter(
      (entry) => isGone(entry) && resultsOf(entry).some((one) => fresh.has(one)),
    )
    const needed = new Set([...back, ...back.flatMap(resultsOf)])
    return base.flatMap((entry) => {
      if (!isGone(entry)) return replayed.has(entry) ? known.get(entry.id)! : entry
      return [entry, ...entry.contents].some((one) => needed.has(one)) ? entry : []
    })
  }
}

/** Messages of others, each where it stood in `saved`: before the same message of this run, else at the end. */
function merged(
  saved: readonly Message[],
  own: readonly Message[],
  others: ReadonlySet<Message>,
): readonly Message[] {
  let waiting: Message[] = []
  const behind = new Map([['', waiting]])
  for (const entry of saved) {
    if (others.has(entry)) waiting.push(entry)
    else behind.set(entry.id, (waiting = []))
  }
  waiting = behind.get('')!
  const all: Message[] = []
  for (const entry of own) {
    const next = behind.get(entry.id)
    // Results stay behind their calls, and behind the run's own ones, which count.
    while (entry.role !== 'tool' && waiting[0]?.role === 'tool') all.push(waiting.shift()!)
    if (next !== undefined) all.push(...waiting)
    waiting = next ?? waiting
    all.push(entry)
  }
  return [...all, ...waiting]
}

/** A result whose call was removed goes with it, and one that a middleware gave a call which has its own result now. */
function withoutStrays(before: readonly Message[], after: readonly Message[]): readonly Message[] {
  const { strays } = matchResults(after)
  if (strays.size === 0) return after
  const alone = matchResults(before).strays
  return after.flatMap((entry) => {
    const contents = entry.contents.filter((part) => !strays.has(part) || alone.has(part))
    if (contents.length === entry.contents.length) return entry
    return contents.length === 0 ? [] : { ...entry, contents }
  })
}

/** Returns true if a person was asked to approve the call. */
function isAskedFor({ contents }: Message, at: number): boolean {
  const call = contents[at]!
  return contents.some(
    (part) => part.type === 'approval-request' && (part === call || isSameCall(call, part.call)),
  )
}

function withIds(messages: readonly Message[], ids: readonly string[]): readonly Message[] {
  const wanted = new Set(ids)
  return messages.filter(({ id }) => wanted.has(id))
}

function hasCall(messages: readonly Message[], call: FunctionCallContent): boolean {
  return messages.some(({ contents }) => contents.some((content) => isSameCall(content, call)))
}

const idOf = ({ id }: Message): string => id

const noMessages: ReadonlySet<Message> = new Set()
