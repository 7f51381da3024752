import type { RunContext, StateCell } from '@lamella/core'
import type { TextEdit } from '@lamella/guardrail'
import { LamellaError, defineState, jsonSchema } from '@lamella/core'
import { keyOf, systemClock, withinTime } from '@lamella/core/authoring'
import { anyOf } from '../base/any-of.ts'
import { linksIn, openLinkFrom } from './links.ts'
import { canonical } from './strategy.ts'
import type { VaultOptions } from './vault-options.ts'

interface Entry {
  readonly kind: string
  readonly value: string
}

/** Values by placeholder, as JSON. */
type Entries = Record<string, Entry>

/** Index of the entries. */
interface Index {
  /** Placeholders by kind and value. */
  readonly placeholders: Map<string, string>
  readonly counts: Map<string, number>
  /** Beginnings of placeholders. */
  readonly prefixes: Set<string>
  longest: number
  /** Matches placeholders. */
  pattern?: RegExp | undefined
}

const indices = new WeakMap<Entries, Index>()
const attempts = 20
/** Number of written placeholders that are skipped before `placeholder` counts as constant. */
const mostWritten = 1000

/** Placeholders in texts of a run. */
interface Written {
  /** Texts that must not contain the next placeholder. */
  readonly texts: Set<string>
}

/** Values that a model does not see, each with one placeholder in a run. */
export class Vault {
  readonly #cell: StateCell<Entries>
  readonly #written: StateCell<Written>
  readonly #ownResults: StateCell<readonly string[]>
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
      // Part of checkpoints: the paused conversation contains placeholders.
      schema: jsonSchema({ type: 'object' }),
    })
    this.#written = defineState<Written>({
      name: `${name}.written`,
      initial: () => ({ texts: new Set() }),
    })
    this.#ownResults = defineState<readonly string[]>({
      name: `${name}.results`,
      initial: () => [],
      schema: jsonSchema({ type: 'array' }),
    })
  }

  /** Keeps a value and returns its placeholder. */
  keep(run: RunContext, kind: string, value: string): string {
    const entries = this.#entries(run)
    const index = indexOf(entries)
    const known = index.placeholders.get(entryKey(kind, value))
    if (known !== undefined) return known
    const { texts } = run.state.get(this.#written)
    const most = index.placeholders.size + texts.size
    for (
      let count = (index.counts.get(kind) ?? 0) + 1, tries = 0;
      tries <= most + mostWritten;
      count++, tries++
    ) {
      const placeholder = this.#placeholder(kind, count)
      if (Object.hasOwn(entries, placeholder) || isIn(texts, placeholder)) continue
      entries[placeholder] = { kind, value }
      add(index, placeholder, { kind, value })
      index.counts.set(kind, count)
      return placeholder
    }
    throw new TypeError('pii: `placeholder` must return a different text for each kind and count')
  }

  /** Reserves everything in a text that looks like a placeholder. */
  avoid(run: RunContext, text: string): void {
    run.state.get(this.#written).texts.add(text)
  }

  /** Does the same for a growing text, for placeholders in the default form. */
  avoidUsual(run: RunContext, text: string): void {
    const entries = this.#entries(run)
    for (const [placeholder] of text.matchAll(usualForm)) {
      if (!Object.hasOwn(entries, placeholder)) this.avoid(run, placeholder)
    }
  }

  /** Notes that the result of a tool call was checked: its placeholders belong to the vault. */
  keepResult(run: RunContext, callId: string): void {
    run.state.update(this.#ownResults, (known) => [...known, callId])
  }

  isOwnResult(run: RunContext, callId: string): boolean {
    return run.state.get(this.#ownResults).includes(callId)
  }

  has(run: RunContext, placeholder: string): boolean {
    return Object.hasOwn(this.#entries(run), placeholder)
  }

  /** Finds the placeholders in a text, with their values. */
  find(run: RunContext, text: string): readonly Required<Omit<TextEdit, 'onReached'>>[] {
    const entries = this.#entries(run)
    const pattern = patternOf(entries)
    if (pattern === undefined) return []
    return Array.from(text.matchAll(pattern), ({ index, 0: placeholder }) => ({
      start: index,
      end: index + placeholder.length,
      replacement: entries[placeholder]!.value,
    }))
  }

  /** Finds the placeholders that are restored for the caller: unless allowed, none in links, images and tags. */
  shown(run: RunContext, text: string): readonly TextEdit[] {
    const found = this.find(run, text)
    if (found.length === 0 || this.#options.restoreInLinks === true) return found
    const links = linksIn(withoutPlaceholders(text, found))
    return found.filter(
      ({ start }) => !links.some((link) => link.start <= start && start < link.end),
    )
  }

  restore(run: RunContext, text: string): string {
    return replaced(text, this.find(run, text))
  }

  restoreShown(run: RunContext, text: string): string {
    return replaced(text, this.shown(run, text))
  }

  /** Returns the index from which a text may become a placeholder, or a link around one. */
  openFrom(run: RunContext, text: string, from: number): number {
    const { prefixes, longest } = indexOf(this.#entries(run))
    if (longest === 0) return text.length
    let open = text.length
    for (let at = Math.max(from, text.length - longest + 1); at < open; at++) {
      if (prefixes.has(text.slice(at))) open = at
    }
    if (this.#options.restoreInLinks === true) return open
    const plain = withoutPlaceholders(text, this.find(run, text))
    const last = linksIn(plain).find(({ end }) => end >= Math.min(open, plain.length))
    return Math.max(from, Math.min(open, last?.start ?? open, openLinkFrom(plain)))
  }

  /** Loads the values of the session. */
  async open(run: RunContext): Promise<void> {
    const entries = this.#entries(run)
    for (const [placeholder, entry] of Object.entries(await this.#load(run))) {
      entries[placeholder] ??= entry
    }
    indices.delete(entries)
  }

  /** Adds new values to the session. Existing values stay. */
  async close(run: RunContext): Promise<void> {
    const { session } = run
    const entries = this.#entries(run)
    if (session === undefined || Object.keys(entries).length === 0) return
    const { ttlMs, store = run.store } = this.#options
    if (store === undefined) {
      session.state[this.#cell.name] = { ...entries, ...(await this.#load(run)) }
      return
    }
    const key = this.#key(run, session.id)
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const kept = (await this.#wait(store.get(key))) as Entries | undefined
      const all = { ...entries, ...kept }
      if (await this.#wait(store.compareAndSet(key, kept, all, { ttlMs }))) return
    }
    throw new LamellaError(
      'pii: the vault could not be written, because too many runs of the session write to it',
      { code: 'state_conflict' },
    )
  }

  #entries(run: RunContext): Entries {
    return run.state.get(this.#cell)
  }

  async #load(run: RunContext): Promise<Entries> {
    const { session } = run
    if (session === undefined) return {}
    const { store = run.store } = this.#options
    const kept = store
      ? await this.#wait(store.get(this.#key(run, session.id)))
      : session.state[this.#cell.name]
    return (kept as Entries | undefined) ?? {}
  }

  /** @throws LamellaError `store_failed` if the store fails or exceeds its time limit */
  async #wait<Value>(answer: PromiseLike<Value>): Promise<Value> {
    const { storeTimeoutMs = 2000 } = this.#options
    const late = (): Error => new Error(`no answer within ${storeTimeoutMs} ms`)
    try {
      return await withinTime(answer, { clock: systemClock, timeoutMs: storeTimeoutMs }, late)
    } catch (cause) {
      throw new LamellaError('pii: the store of the vault failed', { code: 'store_failed', cause })
    }
  }

  /** Returns the key of a session. Two tenants, or two users, may use the same session id. */
  #key(run: RunContext, sessionId: string): string {
    return keyOf(this.#options.prefix ?? 'pii:', run, sessionId)
  }
}

const usualForm = /<[A-Z][A-Z\d_]{0,60}_\d{1,9}>/g
const entryKey = (kind: string, value: string): string => `${kind}\0${canonical(kind, value)}`

function indexOf(entries: Entries): Index {
  let index = indices.get(entries)
  if (index === undefined) {
    index = {
      placeholders: new Map(),
      counts: new Map(),
      prefixes: new Set(),
      longest: 0,
    }
    for (const [placeholder, entry] of Object.entries(entries)) add(index, placeholder, entry)
    indices.set(entries, index)
  }
  return index
}

function add(index: Index, placeholder: string, { kind, value }: Entry): void {
  index.placeholders.set(entryKey(kind, value), placeholder)
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

function isIn(texts: ReadonlySet<string>, placeholder: string): boolean {
  for (const text of texts) if (text.includes(placeholder)) return true
  return false
}

function replaced(text: string, edits: readonly TextEdit[]): string {
  let made = ''
  let done = 0
  for (const { start, end, replacement = '' } of edits) {
    made += text.slice(done, start) + replacement
    done = end
  }
  return made + text.slice(done)
}

/** Replaces placeholders with words of the same length: `<EMAIL_1>` is not a tag. */
function withoutPlaceholders(text: string, found: readonly TextEdit[]): string {
  return replaced(
    text,
    found.map((edit) => ({ ...edit, replacement: '_'.repeat(edit.end - edit.start) })),
  )
}
