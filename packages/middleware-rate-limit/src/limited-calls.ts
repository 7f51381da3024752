import type { ChatResponse, RunContext, Usage } from '@lamella/core'
import {
  addUsage,
  defineState,
  isProviderError,
  jsonSchema,
  LamellaError,
  memoryStore,
} from '@lamella/core'
import { perStore } from '@lamella/store'
import { perRun, reporter, systemClock } from '@lamella/core/authoring'
import { amountOf, isTold, usedSince } from './call-amounts.ts'
import type { CallClaim } from './call-claims.ts'
import { claimsOf } from './call-claims.ts'
import { isMetered } from './check-rate-limit-options.ts'
import { pauseAfter, restrictionsOf } from './learned-limits.ts'
import type { Hold } from './limiter.ts'
import { Limiter } from './limiter.ts'
import { limitStoreOf } from './rate-limit-store.ts'
import type { RateLimitDenial } from './rate-limit-error.ts'
import { RateLimitError } from './rate-limit-error.ts'
import type {
  ContextOf,
  RateLimitEvent,
  RateLimitLevel,
  RateLimitOptions,
} from './rate-limit-options.ts'
import type { Denied } from './waiting-line.ts'

type Process<Level extends RateLimitLevel> = (
  context: ContextOf<Level>,
  callNext: () => Promise<unknown>,
) => Promise<void>

/** Makes the function that queues a call until its limits allow it, and settles its usage. */
export function limitedCalls<Level extends RateLimitLevel>(
  options: RateLimitOptions<Level>,
): Process<Level> {
  const { name = 'rate-limit', level = 'chat', mode, clock = systemClock, store } = options
  const { onLimit = 'wait', maxWaitMs = 30_000, maxQueue = 1000, priority, price } = options
  const { pauseMs = 1000, onStoreError, storeTimeoutMs = 2000 } = options
  const limiterOf = perStore(
    store,
    (given) =>
      new Limiter({
        store: limitStoreOf(given ?? memoryStore({ clock })),
        clock,
        timeoutMs: storeTimeoutMs,
        isLocal: onStoreError !== 'fail',
      }),
  )
  const allClaims = claimsOf(name, options)
  const report = reporter<RateLimitEvent>('rate_limit', options.onEvent)
  // Also found in outer runs, which may have another limiter of this name.
  const holding = defineState({
    name: `rate-limit:${name}:${crypto.randomUUID()}`,
    initial: () => 0,
  })

  /**
   * A call inside of another one, such as a judge's model call, already holds a place: waiting for a
   * second one could deadlock.
   */
  const claimsFor = (context: ContextOf<Level>): readonly CallClaim[] => {
    const isCounted = level === 'agent' && wasCounted(context.run, name)
    const claims = allClaims(context).filter(({ unit }) => !isCounted || unit !== 'requests')
    for (let outer = context.run.parent; outer !== undefined; outer = outer.parent) {
      if (outer.state.get(holding) > 0) return claims.filter(({ unit }) => unit !== 'concurrency')
    }
    return claims
  }

  const enter = async (
    context: ContextOf<Level>,
    claims: readonly CallClaim[],
  ): Promise<Hold | undefined> => {
    const { run, signal } = context
    const denialOf = ({ index, remaining, retryAfterMs }: Denied): RateLimitDenial => {
      const { unit, claim } = claims[index]!
      return {
        limiter: name,
        unit,
        limit: claim.limit,
        windowMs: claim.windowMs,
        remaining: remaining[index]!,
        retryAfterMs: retryAfterMs === Infinity ? undefined : retryAfterMs,
      }
    }
    const reject = (denial: RateLimitDenial, reason: RateLimitError['reason']): RateLimitError => {
      report(run, { ...denial, status: 'rejected' })
      return new RateLimitError(denial, reason)
    }
    const startedAt = clock.now()
    let isWaiting = false
    try {
      const hold = await limiterOf(run).acquire({
        claims: claims.map(({ claim }) => claim),
        signal,
        priority: priority?.(context) ?? 0,
        maxWaitMs,
        onDenied: (denied, place) => {
          const denial = denialOf(denied)
          if (mode === 'shadow') {
            report(run, { ...denial, status: 'shadow' })
            throw passing
          }
          const choice = typeof onLimit === 'function' ? onLimit(denial) : onLimit
          if (choice === 'reject') throw reject(denial, 'limit')
          if (place > maxQueue) throw reject(denial, 'queue')
          isWaiting = true
          report(run, { ...denial, status: 'waiting' })
        },
        tooLong: (denied) => reject(denialOf(denied), 'wait'),
      })
      if (isWaiting) {
        report(run, { limiter: name, status: 'passed', waitedMs: clock.now() - startedAt })
      }
      if (hold.isLocal) report(run, { limiter: name, status: 'store_error' })
      return hold
    } catch (error) {
      if (error === passing) return undefined
      if (signal.aborted || LamellaError.is(error)) throw error
      report(run, { limiter: name, status: 'store_error' })
      throw new LamellaError(`${name}: the store failed`, { code: 'store_failed', cause: error })
    }
  }

  /** Learns limits from an answer or a failure of the provider. */
  const learn = async (
    run: RunContext,
    claims: readonly CallClaim[],
    told: unknown,
    failure: unknown,
  ): Promise<void> => {
    const concerned = claims.filter(({ isAdaptive }) => isAdaptive)
    if (concerned.length === 0) return
    const pause = pauseAfter(failure, pauseMs)
    if (pause === undefined) {
      await limiterOf(run).restrict(restrictionsOf(concerned, told, clock.now()))
      return
    }
    report(run, { limiter: name, status: 'paused', pauseMs: pause })
    await limiterOf(run).restrict(
      concerned.map(({ claim }) => ({ claim, remaining: 0, forMs: pause })),
    )
  }

  return async (context, callNext) => {
    const { run, metadata } = context
    const claims = claimsFor(context)
    const hold = claims.length === 0 ? undefined : await enter(context, claims)
    if (hold === undefined) {
      await callNext()
      return
    }
    metadata['rateLimit'] = claims.map(({ unit, claim: { limit } }, index) => ({
      unit,
      limit,
      remaining: hold.remaining[index],
    }))
    const before = run.usage
    const end = async (response: ChatResponse | undefined, failure?: unknown): Promise<void> => {
      const isUnknown = response !== undefined && !isTold(addUsage({}, response.usage))
      const used: Usage = usedSince(run, before)
      const isTaken = await hold.settle((claim, index) => {
        const { unit } = claims[index]!
        if (!isMetered(unit) || isUnknown) return claim.amount
        const cost = (tokens: Usage): number => price?.(tokens, context) ?? 0
        return amountOf(unit, used, cost) ?? claim.amount
      })
      if (!isTaken) report(run, { limiter: name, status: 'store_error' })
      const told = isProviderError(failure) ? failure.details : response?.metadata
      await learn(run, claims, told?.['rateLimit'], failure)
    }
    run.state.update(holding, (count) => count + 1)
    try {
      await callNext()
    } catch (error) {
      // An abort does not wait for the store.
      const ending = end(undefined, error).catch(() => {})
      if (!context.signal.aborted) await ending
      throw error
    } finally {
      run.state.update(holding, (count) => count - 1)
    }
    await end(level === 'function' ? undefined : (context.result as ChatResponse))
  }
}

/** Leaves the queue in shadow mode. */
const passing = new Error('in shadow mode, everything passes')

/** Limiters that have counted the run, the n-th of a name as `name#n`. A run that was paused has it from its checkpoint. */
const counted = defineState<readonly string[]>({
  name: 'rate-limit:counted',
  initial: () => [],
  schema: jsonSchema({ type: 'array', items: { type: 'string' } }),
})
const entered = perRun(() => new Map<string, number>())

/** Notes that a limiter counts the run. Returns true if it has done so before a pause. */
function wasCounted(run: RunContext, name: string): boolean {
  const times = entered(run)
  const place = times.get(name) ?? 0
  times.set(name, place + 1)
  const key = `${name}#${place}`
  if (run.state.get(counted).includes(key)) return true
  run.state.update(counted, (keys) => [...keys, key])
  return false
}
