import type { GuardrailSubject, TextEdit, Verdict } from '@lamella/guardrail'
import type { RunContext } from '@lamella/core'
import type { Detection, DetectorOptions, DetectPii } from './find/detector.ts'
import { detect, withoutOverlaps } from './find/detector.ts'
import { pendingFrom } from './find/open-text.ts'
import type { PiiOptions, StrategyOf } from './pii-options.ts'
import { strategyOf } from './pii-options.ts'
import type { Strategy } from './replace/strategy.ts'
import { hashed, masked, pseudonym, redacted } from './replace/strategy.ts'
import type { Vault } from './replace/vault.ts'

/** Judges texts and chooses the replacements of finds. Keeps no data of a run. */
export class PiiCheck {
  readonly #options: PiiOptions
  readonly #detector: DetectorOptions
  readonly #vault: Vault | undefined
  readonly #strategyOf: StrategyOf
  /** Length of the longest match with white space in it. */
  readonly #maxChars: number

  constructor(options: PiiOptions, detector: DetectorOptions, vault: Vault | undefined) {
    this.#options = options
    this.#detector = detector
    this.#vault = vault
    this.#strategyOf = strategyOf(options)
    this.#maxChars = Math.max(0, ...detector.recognizers.map(({ maxChars = 0 }) => maxChars))
  }

  check(
    subject: GuardrailSubject,
    run: RunContext,
    signal: AbortSignal,
  ): Verdict | Promise<Verdict> {
    const { stage, before = '', whole: text = before + subject.text } = subject
    const found = detect(text, this.#detector, before.length)
    const judge = (all: readonly Detection[]): Verdict => {
      if (all.length === 0 && this.#vault === undefined) return { action: 'allow' }
      const until = subject.final ? text.length : this.pending(text, before.length)
      const spans: Found[] = this.#readForVault(subject, run, text)
      const isModel = this.#isOfModel(subject)
      let read = before.length
      for (const { kind, start, end } of all) {
        if (start < before.length || start >= until) continue
        const strategy = this.#strategyOf(kind, stage)
        const value = text.slice(start, end)
        if (this.#isLeftAlone(run, strategy, value, stage)) continue
        // In the order of the text, so that the split into updates does not matter.
        if (isModel) this.#vault?.avoidUsual(run, text.slice(read, start))
        read = end
        // A find that may still grow is neither kept nor replaced yet.
        const replacement =
          end > until ? redacted(kind) : this.#replacement(run, kind, strategy, value)
        const [from, to] = [start - before.length, end - before.length]
        spans.push({ start: from, end: to, replacement, kind, strategy })
      }
      if (isModel) this.#vault?.avoidUsual(run, text.slice(read, until))
      return verdictOn(spans)
    }
    const more = [this.#options.detect ?? []].flat()
    return more.length > 0 ? withMore(more, text, signal, found).then(judge) : judge(found)
  }

  pending(text: string, from: number): number {
    return pendingFrom(text, from, this.#maxChars)
  }

  #isOfModel({ stage, role }: GuardrailSubject): boolean {
    return role === 'assistant' || stage === 'arguments'
  }

  /**
   * Prevents that foreign text in the form of a placeholder is restored: the vault does not create
   * this placeholder. If it already has, the foreign text gets a placeholder of its own.
   */
  #readForVault(subject: GuardrailSubject, run: RunContext, text: string): Found[] {
    const vault = this.#vault
    if (vault === undefined) return []
    if (this.#isOfModel(subject)) return []
    const { stage, callId, contents = [] } = subject
    const results = contents.filter((content) => content.type === 'function-result')
    if (stage === 'input' && results.some((result) => vault.isOwnResult(run, result.callId)))
      return []
    if (stage === 'result' && callId !== undefined) vault.keepResult(run, callId)
    const written = vault.find(run, text).map(({ start, end }) => [start, end] as const)
    vault.avoid(run, text)
    return written.map(([start, end]) => ({
      start,
      end,
      replacement: vault.keep(run, 'placeholder', text.slice(start, end)),
      kind: 'placeholder',
      strategy: 'vault',
    }))
  }

  #isLeftAlone(run: RunContext, strategy: Strategy, value: string, stage: string): boolean {
    // Arguments are restored for the tool, so they are not replaced first.
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

interface Found extends TextEdit {
  readonly kind: string
  readonly strategy: Strategy
}

/** Returns the verdict: the category of the first blocking find, otherwise all kinds. */
function verdictOn(found: readonly Found[]): Verdict {
  const blocked = found.filter(({ strategy }) => strategy === 'block')
  if (blocked[0]) return { action: 'block', category: blocked[0].kind, spans: placesOf(blocked) }
  if (found.length === 0) return { action: 'allow' }
  const category = [...new Set(found.map(({ kind }) => kind))].toSorted().join(', ')
  const isFlagged = found.every(({ strategy }) => strategy === 'flag')
  return { action: isFlagged ? 'flag' : 'replace', category, spans: placesOf(found) }
}

const placesOf = (found: readonly Found[]): readonly TextEdit[] =>
  found.map(({ start, end, replacement }) => ({ start, end, replacement }))

async function withMore(
  more: readonly DetectPii[],
  text: string,
  signal: AbortSignal,
  found: readonly Detection[],
): Promise<readonly Detection[]> {
  const others = await Promise.all(
    more.map(async (ask) => checked(await ask(text, { signal }), text)),
  )
  return withoutOverlaps([...found, ...others.flat()])
}

/** A find with a wrong place would leave what it means in the text. */
function checked(finds: readonly Detection[], text: string): readonly Detection[] {
  if (!Array.isArray(finds)) throw new TypeError('`detect` must return a list of finds')
  for (const { kind, start, end } of finds as readonly Partial<Detection>[]) {
    const isPlace = Number.isInteger(start) && Number.isInteger(end) && start! >= 0 && start! < end!
    if (typeof kind !== 'string' || !isPlace || end! > text.length) {
      const size = `${text.length} characters`
      throw new RangeError(
        `\`detect\` must return { kind, start, end, score }, got a place from ${String(start)} to ${String(end)} in ${size}`,
      )
    }
  }
  return finds
}
