/**
 * What leaves when: everything at once, all but what could still become a match, whole sentences,
 * or nothing before the end.
 */
export type ReleasePolicy = 'passthrough' | 'window' | 'sentence' | 'full'

/** Kinds of text that a gate can watch. */
export type JudgedPart = 'text' | 'reasoning' | 'refusal' | 'arguments'

/** A view of the text that a scan is to judge. */
export interface ScanWindow {
  readonly part: JudgedPart
  /** The call that arguments are of. */
  readonly callId?: string | undefined
  readonly text: string
  /** Edits begin here. What stands before is context that was judged already. */
  readonly from: number
  /** Whether the text ends here. */
  readonly final: boolean
}

/**
 * How a text is read: `raw` as it stands; `decoded` so, and with its JSON escapes decoded; `json`
 * decoded alone, and what replaces a part of it is escaped.
 */
export type ReadAs = 'raw' | 'decoded' | 'json'

/** How a text is scanned and released. */
export interface ScanOptions {
  readonly release: ReleasePolicy
  /**
   * The index from which on the text may still be the start of a match, or of a longer one; the
   * length of the text if nothing is open. It must not depend on how the text was cut.
   */
  readonly pending?: ((text: string, from: number) => number) | undefined
  /**
   * Characters at the end that may still become a match, for guardrails without `pending`: the length
   * of the longest match.
   * @default 256, and 0 for `sentence`
   */
  readonly holdChars?: number | undefined
  /**
   * Scans whenever this many characters have come (for `sentence`: at the next sentence end).
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /**
   * Lets everything leave at once. It is scanned as `release` says, and edits are reached and not
   * applied.
   * @default true for `passthrough`, otherwise false
   */
  readonly observe?: boolean | undefined
  /**
   * How the text is read. Arguments are never `decoded`, but `json`.
   * @default 'decoded'
   */
  readonly readAs?: ReadAs | undefined
}

/** Whether a guardrail with these options only watches. */
export function observes({ release, observe }: ScanOptions): boolean {
  return observe ?? release === 'passthrough'
}

/** The policy that holds where several guardrails watch. `passthrough` if there are none. */
export function strictest(policies: Iterable<ReleasePolicy>): ReleasePolicy {
  const given = [...policies]
  return byStrictness.findLast((policy) => given.includes(policy)) ?? 'passthrough'
}

export const byStrictness: readonly ReleasePolicy[] = ['passthrough', 'window', 'sentence', 'full']
