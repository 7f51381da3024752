import type { Finding, KeyValueStore, RunContext, StateCell } from '@lamella/core'
import { defineState, LamellaError } from '@lamella/core'
import { anyOf } from './any-of.ts'
import { canonical } from './strategy.ts'

/** Where values are kept while the model works with placeholders. */
export interface VaultOptions {
  /**
   * Keeps the values of a session. They are there as they are: use one that is as safe as what holds
   * your conversations.
   * @default the session's own state
   */
  readonly store?: KeyValueStore | undefined
  /** Milliseconds after which the store forgets a session that is not used. @default it does not */
  readonly ttlMs?: number | undefined
  /** Stands before a session's id in its key. @default 'pii:' */
  readonly prefix?: string | undefined
  /** Where values take the place of their placeholders again. @default ['arguments', 'output'] */
  readonly restore?: readonly ('arguments' | 'output')[] | undefined
  /** Whether a tool may get values. @default all tools */
  readonly restoreFor?: ((toolName: string) => boolean) | undefined
}

interface Entry {
  readonly kind: string
  readonly value: string
}

/** Values by placeholder, as JSON. */
type Entries = Record<string, Entry>

/** What is derived from entries, so that nothing is searched. */
interface Index {
  /** By kind and value. */
  readonly placeholders: Map<string, string>
  readonly counts: Map<string, number>
  /** How placeholders may begin. */
  readonly prefixes: Set<string>
  /** What somebody wrote that looks like a placeholder. It is never made one. */
  readonly taken: Set<string>
  longest: number
  /** Finds placeholders. */
  pattern?: RegExp | undefined
}

const indices = new WeakMap<Entries, Index>()
const attempts = 20

/** The values that runs keep back from a model, each under one placeholder in a run. */
export class Vault {
  readonly #cell: StateCell<Entries>
  readonly #options: VaultOptions
  readonly #placeholder: (kind: string, count: number) => string

  constructor(
    name: string,
    options: VaultOptions,
    placeholder: (kind: string, count: number) => string,
  ) {
    this.#options = options
    this.#placeholder = placeholder
    this.#cell = defineState<Entries>({
      name: `${name}.vault`,
      initial: () => ({}),
      // Into checkpoints: the paused conversation has placeholders in it.
      schema: { type: 'object' },
    })
  }

  /** The placeholder of a value, which is kept from now on. */
  keep(run: RunContext, kind: string, value: string): string {
    const entries = this.#entries(run)
    const index = indexOf(entries)
    const known = index.placeholders.get(keyOf(kind, value))
    if (known !== undefined) return known
    const most = index.placeholders.size + index.taken.size
    for (
      let count = (index.counts.get(kind) ?? 0) + 1, tries = 0;
      tries <= most;
      count++, tries++
    ) {
      const placeholder = this.#placeholder(kind, count)
      if (Object.hasOwn(entries, placeholder) || index.taken.has(placeholder)) continue
      entries[placeholder] = { kind, value }
      add(index, placeholder, { kind, value })
      index.counts.set(kind, count)
      return placeholder
    }
    throw new TypeError('pii: `placeholder` must give another text for each kind and count')
  }

  /** Sees to it that what looks like a placeholder and is none stays what it is. */
  reserve(run: RunContext, text: string): void {
    const entries = this.#entries(run)
    for (const [placeholder] of text.matchAll(usualForm)) {
      if (!Object.hasOwn(entries, placeholder)) indexOf(entries).taken.add(placeholder)
    }
  }

  has(run: RunContext, placeholder: string): boolean {
    return Object.hasOwn(this.#entries(run), placeholder)
  }

  /** The placeholders in a text, with what they stand for. */
  find(run: RunContext, text: string): readonly Finding[] {
    const entries = this.#entries(run)
    const pattern = patternOf(entries)
    if (pattern === undefined) return []
    return Array.from(text.matchAll(pattern), ({ index, 0: placeholder }) => ({
      start: index,
      end: index + placeholder.length,
      replacement: entries[placeholder]!.value,
    }))
  }

  restore(run: RunContext, text: string): string {
    const entries = this.#entries(run)
    const pattern = patternOf(entries)
    return pattern ? text.replace(pattern, (placeholder) => entries[placeholder]!.value) : text
  }

  /** The index from which on a text may still become a placeholder. */
  openFrom(run: RunContext, text: string, from: number): number {
    const { prefixes, longest } = indexOf(this.#entries(run))
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      if (prefixes.has(text.slice(at))) return at
    }
    return text.length
  }

  /** Takes over what the session knows. */
  async open(run: RunContext): Promise<void> {
    const entries = this.#entries(run)
    for (const [placeholder, entry] of Object.entries(await this.#load(run))) {
      entries[placeholder] ??= entry
    }
    indices.delete(entries)
  }

  /** Gives the session what it did not know. What it knows stays as it is. */
  async close(run: RunContext): Promise<void> {
    const { session } = run
    const entries = this.#entries(run)
    if (session === undefined || Object.keys(entries).length === 0) return
    const { store, ttlMs } = this.#options
    if (store === undefined) {
      session.state[this.#cell.name] = { ...entries, ...(await this.#load(run)) }
      return
    }
    const key = this.#key(session.id)
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const kept = (await store.get(key)) as Entries | undefined
      if (await store.compareAndSet(key, kept, { ...entries, ...kept }, { ttlMs })) return
    }
    throw new LamellaError(
      'pii: the vault could not be written, too many runs of the session write to it',
      { code: 'state_conflict' },
    )
  }

  #entries(run: RunContext): Entries {
    return run.state.get(this.#cell)
  }

  async #load({ session }: RunContext): Promise<Entries> {
    if (session === undefined) return {}
    const { store } = this.#options
    const kept = store ? await store.get(this.#key(session.id)) : session.state[this.#cell.name]
    return (kept as Entries | undefined) ?? {}
  }

  #key(sessionId: string): string {
    return (this.#options.prefix ?? 'pii:') + sessionId
  }
}

const usualForm = /<[A-Z][A-Z\d_]{0,60}_\d{1,9}>/g
const keyOf = (kind: string, value: string): string => `${kind}\0${canonical(kind, value)}`

function indexOf(entries: Entries): Index {
  let index = indices.get(entries)
  if (index === undefined) {
    index = {
      placeholders: new Map(),
      counts: new Map(),
      prefixes: new Set(),
      taken: new Set(),
      longest: 0,
    }
    for (const [placeholder, entry] of Object.entries(entries)) add(index, placeholder, entry)
    indices.set(entries, index)
  }
  return index
}

function add(index: Index, placeholder: string, { kind, value }: Entry): void {
  index.placeholders.set(keyOf(kind, value), placeholder)
  index.counts.set(kind, (index.counts.get(kind) ?? 0) + 1)
  for (let end = 1; end < placeholder.length; end++) index.prefixes.add(placeholder.slice(0, end))
  index.longest = Math.max(index.longest, placeholder.length)
  index.pattern = undefined
}

function patternOf(entries: Entries): RegExp | undefined {
  const index = indexOf(entries)
  if (index.placeholders.size === 0) return undefined
  index.pattern ??= anyOf([...index.placeholders.values()], 'g')
  return index.pattern
}
