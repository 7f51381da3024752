/**
 * Release of text: everything at once, everything except a possible match, whole sentences, or nothing
 * before the end.
 */
export type ReleasePolicy = 'passthrough' | 'window' | 'sentence' | 'full'

/** Kinds of text that a gate can judge. */
export type JudgedPart = 'text' | 'reasoning' | 'refusal' | 'arguments'

/** Part of a text for one scan. */
export interface ScanWindow {
  /** Kind of the text. */
  readonly part: JudgedPart
  /** Id of the tool call, for arguments. */
  readonly callId?: string | undefined
  /** Text of the window, judged context included. */
  readonly text: string
  /** Index at which edits may begin. The text before it is judged context. */
  readonly from: number
  /** True if the text ends with this window. */
  readonly final: boolean
}

/**
 * Reading of a text: `raw` unchanged; `decoded` unchanged and with its JSON escapes decoded; `json` decoded
 * only, with replacements escaped.
 */
export type ReadAs = 'raw' | 'decoded' | 'json'

/** Options for scanning and releasing text. */
export interface ScanOptions {
  /** Release of the text. */
  readonly release: ReleasePolicy
  /**
   * Returns the index from which the text may still be the start of a match, or of a longer one; the length
   * of the text if nothing is open. Must not depend on the split into updates.
   * @default `holdChars` decides
   */
  readonly pending?: ((text: string, from: number) => number) | undefined
  /**
   * Number of characters at the end that may still become a match, for guardrails without `pending`: the
   * length of the longest match.
   * @default 256, and 0 for `sentence`
   */
  readonly holdChars?: number | undefined
  /**
   * Number of characters between two scans (for `sentence`: then at the next end of a sentence).
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /**
   * Passes everything at once. Scans happen as `release` says; edits are reported and not applied.
   * @default true for `passthrough`, otherwise false
   */
  readonly observe?: boolean | undefined
  /**
   * Reading of the text. Arguments are read as `json` instead of `decoded`.
   * @default 'decoded'
   */
  readonly readAs?: ReadAs | undefined
}

/** Returns true if a guardrail with these options only observes. */
export function observes({ release, observe }: ScanOptions): boolean {
  return observe ?? release === 'passthrough'
}

/** Returns the strictest of several policies; `passthrough` if there are none. */
export function strictest(policies: Iterable<ReleasePolicy>): ReleasePolicy {
  const given = [...policies]
  return byStrictness.findLast((policy) => given.includes(policy)) ?? 'passthrough'
}

export const byStrictness: readonly ReleasePolicy[] = ['passthrough', 'window', 'sentence', 'full']
