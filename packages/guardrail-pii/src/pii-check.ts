import type { GuardSubject, RunContext, Verdict, VerdictSpan } from '@lamella/core'
import type { Detection, DetectorOptions } from './detector.ts'
import { detect, withoutOverlaps } from './detector.ts'
import type { JsonSpan } from './json-text.ts'
import { readJson } from './json-text.ts'
import { pendingFrom } from './open-text.ts'
import type { DetectPii, PiiOptions, StrategyOf } from './pii-options.ts'
import { strategyOf } from './pii-options.ts'
import type { Strategy } from './strategy.ts'
import { hashed, masked, pseudonym, redacted } from './strategy.ts'
import type { Vault } from './vault.ts'

/** Judges texts, and says what takes the place of what was found. It holds no data of a run. */
export class PiiCheck {
  readonly #options: PiiOptions
  readonly #detector: DetectorOptions
  readonly #vault: Vault | undefined
  readonly #strategyOf: StrategyOf
  /** Of the longest match with white space in it. */
  readonly #maxChars: number

  constructor(options: PiiOptions, detector: DetectorOptions, vault: Vault | undefined) {
    this.#options = options
    this.#detector = detector
    this.#vault = vault
    this.#strategyOf = strategyOf(options)
    this.#maxChars = Math.max(0, ...detector.recognizers.map(({ maxChars = 0 }) => maxChars))
  }

  check(subject: GuardSubject, run: RunContext, signal: AbortSignal): Verdict | Promise<Verdict> {
    const { stage, role, before = '' } = subject
    const json = stage === 'arguments' || role === 'tool' ? readJson(subject.text) : undefined
    const text = json?.text ?? before + subject.text
    const found = detect(text, this.#detector, json ? 0 : before.length)
    const judge = (all: readonly Detection[]): Verdict => {
      if (all.length === 0 && this.#vault === undefined) return { action: 'allow' }
      const until = subject.final ? text.length : this.pending(text, before.length)
      const spans: Found[] = []
      let read = before.length
      for (const { kind, start, end } of all) {
        if (json === undefined && (start < before.length || start >= until)) continue
        const strategy = this.#strategyOf(kind, stage)
        const value = text.slice(start, end)
        if (this.#isLeftAlone(run, strategy, value, stage)) continue
        this.#vault?.reserve(run, text.slice(read, start))
        read = end
        // What may still grow is neither kept nor replaced yet.
        const made = end > until ? redacted(kind) : this.#replacement(run, kind, strategy, value)
        const places = json
          ? jsonEdits(json.toSpans(start, end), made)
          : [{ start: start - before.length, end: end - before.length, replacement: made }]
        spans.push(...places.map((place) => ({ ...place, kind, strategy })))
      }
      this.#vault?.reserve(run, text.slice(read, until))
      return verdictOn(spans)
    }
    const more = this.#options.detect
    return more ? withMore(more, text, signal, found).then(judge) : judge(found)
  }

  /** JSON with what was found in it replaced, or the same text. Nothing is blocked. */
  replaceInJson(json: string, run: RunContext): string {
    const read = readJson(json)
    if (read === undefined) return json
    let replaced = ''
    let done = 0
    for (const { kind, start, end } of detect(read.text, this.#detector)) {
      const strategy = this.#strategyOf(kind, 'input')
      const value = read.text.slice(start, end)
      if (strategy === 'flag' || this.#vault?.has(run, value)) continue
      this.#vault?.reserve(run, read.text.slice(0, start))
      const made = this.#replacement(run, kind, strategy, value)
      for (const edit of jsonEdits(read.toSpans(start, end), made)) {
        replaced += json.slice(done, edit.start) + edit.replacement
        done = edit.end
      }
    }
    return replaced + json.slice(done)
  }

  pending(text: string, from: number): number {
    return pendingFrom(text, from, this.#maxChars)
  }

  #isLeftAlone(run: RunContext, strategy: Strategy, value: string, stage: string): boolean {
    // What a tool is to get is not taken away from it just to be given back.
    if (strategy === 'vault' && stage === 'arguments') return true
    return this.#vault?.has(run, value) ?? false
  }

  #replacement(run: RunContext, kind: string, strategy: Strategy, value: string): string {
    const { mask, key = '', hash } = this.#options
    switch (strategy) {
      case 'mask':
        return masked(value, mask)
      case 'hash':
        return hashed(kind, value, key, hash)
      case 'pseudonymize':
        return pseudonym(kind, value, key)
      case 'vault':
        return this.#vault!.keep(run, kind, value)
      case 'flag':
        return value
      default:
        return redacted(kind)
    }
  }
}

interface Found extends VerdictSpan {
  readonly kind: string
  readonly strategy: Strategy
}

/** The first find that is to block says why. Otherwise all kinds are named. */
function verdictOn(found: readonly Found[]): Verdict {
  const blocked = found.filter(({ strategy }) => strategy === 'block')
  if (blocked[0]) return { action: 'block', category: blocked[0].kind, spans: placesOf(blocked) }
  if (found.length === 0) return { action: 'allow' }
  const category = [...new Set(found.map(({ kind }) => kind))].toSorted().join(', ')
  const isFlagged = found.every(({ strategy }) => strategy === 'flag')
  return { action: isFlagged ? 'flag' : 'replace', category, spans: placesOf(found) }
}

const placesOf = (found: readonly Found[]): readonly VerdictSpan[] =>
  found.map(({ start, end, replacement }) => ({ start, end, replacement }))

async function withMore(
  more: DetectPii,
  text: string,
  signal: AbortSignal,
  found: readonly Detection[],
): Promise<readonly Detection[]> {
  return withoutOverlaps([...found, ...(await more(text, { signal }))])
}

/** What takes the place of stretches of JSON: the first gets it all. */
function jsonEdits(spans: readonly JsonSpan[], made: string) {
  return spans
    .map(({ isNumber, ...place }, at) => {
      const json = JSON.stringify(at === 0 ? made : '')
      return { ...place, replacement: isNumber ? json : json.slice(1, -1) }
    })
    .filter(({ start, end }) => start < end)
}
