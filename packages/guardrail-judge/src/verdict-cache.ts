import type { KeyValueStore, RunContext } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { canonicalJson, sha256, systemClock, withinStoreTime } from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import type { JudgeOutcome } from './judge.ts'

/** Settings of the verdicts that a judge keeps. */
export interface VerdictCacheOptions {
  /**
   * Milliseconds for which a verdict holds.
   * @default 3_600_000, an hour
   */
  readonly ttlMs?: number | undefined
  /**
   * Store of the verdicts.
   * @default the agent's, otherwise this process, the last 1,000
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds to wait for each answer of the store. After it, the judge is asked.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
}

/** Keeps verdicts by a hash of what was judged. A store that fails counts as empty. */
export function verdictCache(
  { ttlMs = 3_600_000, store: own, storeTimeoutMs: timeoutMs = 1000 }: VerdictCacheOptions,
  clock: Clock = systemClock,
): (
  asked: unknown,
  judge: () => Promise<JudgeOutcome>,
  within: Pick<RunContext, 'store' | 'signal'>,
) => Promise<JudgeOutcome> {
  const storeOf = perStore(own, (store) => store ?? memoryStore({ clock }))
  return async (asked, judge, run) => {
    const { signal } = run
    const kept = storeOf(run)
    const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
      try {
        return await withinStoreTime(work, { clock, timeoutMs, signal })
      } catch (error) {
        if (signal.aborted) throw error
        return undefined
      }
    }
    const key = `lamella:judge:${await sha256(canonicalJson(asked))}`
    const known = (await attempt(kept.get(key))) as JudgeOutcome | undefined
    if (known !== undefined) return known
    const outcome = await judge()
    await attempt(kept.set(key, outcome, { ttlMs }))
    return outcome
  }
}
