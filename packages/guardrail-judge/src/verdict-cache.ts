import type { KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import type { JudgeOutcome } from './judge.ts'

export interface VerdictCacheOptions {
  /** @default one hour */
  readonly ttlMs?: number | undefined
  /** @default 1,000 verdicts in memory */
  readonly store?: KeyValueStore | undefined
}

/** Keeps verdicts by what was judged, of which it holds a hash only. A store that fails is as one that is empty. */
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
