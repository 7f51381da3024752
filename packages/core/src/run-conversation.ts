import type { Message } from './message.ts'
import type { RunMessages } from './run-context.ts'

/** The messages that a run has added, for who goes on with it. */
export interface Told {
  /** Added before the last rewrite: the message, or where it still stands. */
  readonly absorbed: readonly (Message | number)[]
  /** How many of the last messages were added since. */
  readonly last: number
}

/** The conversation of one run: what was there before, and what the run adds. */
export class RunConversation implements RunMessages {
  #all: Message[] = []
  /** What stands before the messages that this run has added since the last rewrite. */
  #base: readonly Message[] = []
  /** Added before the last rewrite: the rewritten list speaks for them. */
  #absorbed: Set<string> | undefined
  #added: Message[] = []
  /** Ids of messages that rewriting has left out. A session may still have them. */
  dropped: Set<string> | undefined
  /** Whether `begin` was called. */
  begun = false

  get all(): readonly Message[] {
    return this.#all
  }

  /** What this run has added, in order, whatever was rewritten. */
  get added(): readonly Message[] {
    return this.#added
  }

  /** What a finished run stands on, and which of its messages that speaks for. */
  get ground(): { readonly base: readonly Message[]; readonly absorbed: readonly string[] } {
    return { base: this.#base, absorbed: [...(this.#absorbed ?? [])] }
  }

  begin(messages: readonly Message[], absorbed?: readonly string[]): void {
    this.begun = true
    this.#base = messages
    this.#all = [...messages]
    this.#added = []
    this.#absorbed = absorbed && new Set(absorbed)
  }

  /** What this run has told so far, in terms of `all`. */
  get told(): Told {
    const absorbed = this.#added.filter(({ id }) => this.#absorbed?.has(id) === true)
    return {
      absorbed: absorbed.map((entry) => {
        const at = this.#all.indexOf(entry)
        return at < 0 ? entry : at
      }),
      last: this.#all.length - this.#base.length,
    }
  }

  /** Begins where a run stood in its middle, with what it had told as told by this one. */
  beginAgain(messages: readonly Message[], { absorbed, last }: Told): void {
    const told = absorbed.map((entry) => (typeof entry === 'number' ? messages[entry]! : entry))
    this.begin(
      messages.slice(0, messages.length - last),
      told.map(({ id }) => id),
    )
    this.#added = told
    this.add(messages.slice(messages.length - last))
  }

  add(messages: readonly Message[]): void {
    for (const entry of messages) {
      this.#added.push(entry)
      this.#all.push(entry)
    }
  }

  /** Puts a changed message in the place of the last one with its id. */
  replace(changed: Message): void {
    const old = this.#all.findLast(({ id }) => id === changed.id)
    const swap = (entry: Message): Message => (entry === old ? changed : entry)
    this.#all = this.#all.map(swap)
    this.#added = this.#added.map(swap)
    this.#base = this.#base.map(swap)
  }

  /** Adds a message, not at the end but at `index`, among those that stood there before the run. */
  insert(index: number, entry: Message): void {
    if (index > this.#base.length || index === this.#all.length) {
      this.add([entry])
      return
    }
    this.#base = this.#base.toSpliced(index, 0, entry)
    this.#all.splice(index, 0, entry)
    this.#added.push(entry)
    ;(this.#absorbed ??= new Set()).add(entry.id)
  }

  rewrite(rewriter: (messages: readonly Message[]) => readonly Message[]): void {
    const rewritten = rewriter(this.#all)
    const dropped = (this.dropped ??= new Set())
    for (const { id } of this.#all) dropped.add(id)
    for (const { id } of rewritten) dropped.delete(id)
    this.#base = rewritten
    this.#all = [...rewritten]
    const absorbed = (this.#absorbed ??= new Set())
    for (const { id } of this.#added) absorbed.add(id)
  }

  /** What a session keeps when the run's final response holds `messages`; `between` came before those. */
  history(messages: readonly Message[], between: readonly Message[]): readonly Message[] {
    const absorbed = this.#absorbed
    const kept = absorbed === undefined ? messages : messages.filter(({ id }) => !absorbed.has(id))
    return [...this.#base, ...between, ...kept]
  }
}
