import type { Message } from './message.ts'
import type { RunMessages } from './run-context.ts'

/** The conversation of one run: what was there before, and what the run adds. */
export class RunConversation implements RunMessages {
  #all: Message[] = []
  /** What stands before the messages that this run has added since the last rewrite. */
  #base: readonly Message[] = []
  /** Added before the last rewrite: the rewritten list speaks for them. */
  #absorbed: Set<string> | undefined
  #added: Message[] = []

  get all(): readonly Message[] {
    return this.#all
  }

  /** What this run has added, in order, whatever was rewritten. */
  get added(): readonly Message[] {
    return this.#added
  }

  begin(messages: readonly Message[]): void {
    this.#base = messages
    this.#all = [...messages]
  }

  add(messages: readonly Message[]): void {
    for (const entry of messages) {
      this.#added.push(entry)
      this.#all.push(entry)
    }
  }

  /** Puts a changed message in the place of the one with its id. */
  replace(changed: Message): void {
    const swap = (entry: Message): Message => (entry.id === changed.id ? changed : entry)
    this.#all = this.#all.map(swap)
    this.#added = this.#added.map(swap)
    this.#base = this.#base.map(swap)
  }

  /** Inserts a message right behind another one, which stood there before the run. */
  insertAfter(id: string, entry: Message): void {
    const insert = (list: readonly Message[]): Message[] =>
      list.flatMap((each) => (each.id === id ? [each, entry] : [each]))
    this.#base = insert(this.#base)
    this.#all = insert(this.#all)
    this.#added.push(entry)
    ;(this.#absorbed ??= new Set()).add(entry.id)
  }

  rewrite(rewriter: (messages: readonly Message[]) => readonly Message[]): void {
    const rewritten = rewriter(this.#all)
    this.#base = rewritten
    this.#all = [...rewritten]
    const absorbed = (this.#absorbed ??= new Set())
    for (const { id } of this.#added) absorbed.add(id)
  }

  /** What a session keeps when the run's final response holds `messages`. */
  history(messages: readonly Message[]): readonly Message[] {
    const absorbed = this.#absorbed
    const kept = absorbed === undefined ? messages : messages.filter(({ id }) => !absorbed.has(id))
    return [...this.#base, ...kept]
  }
}
