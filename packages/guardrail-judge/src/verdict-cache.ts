import type { KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import type { JudgeOutcome } from './judge.ts'

/** Options of the cache of verdicts. */
export interface VerdictCacheOptions {
  /** Lifetime of a verdict in milliseconds. @default 3600000, one hour */
  readonly ttlMs?: number | undefined
  /** Store of the verdicts. @default 1,000 verdicts in memory */
  readonly store?: KeyValueStore | undefined
}

/** Keeps verdicts by a hash of the judged text. A store that fails counts as empty. */
export function verdictCache(
  { ttlMs = 3_600_000, store }: VerdictCacheOptions,
  clock: Clock | undefined,
): (asked: unknown, judge: () => Promise<JudgeOutcome>) => Promise<JudgeOutcome> {
  const kept = store ?? memoryStore({ clock })
  return async (asked, judge) => {
    const key = `lamella:judge:${await sha256(canonicalJson(asked))}`
    const known = (await kept.get(key).catch(() => undefined)) as JudgeOutcome | undefined
    if (known !== undefined) return known
    const outcome = await judge()
    await kept.set(key, outcome, { ttlMs }).catch(() => {})
    return outcome
  }
}
