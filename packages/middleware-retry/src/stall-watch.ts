import type { ChatContext } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { TimeoutPhase } from './timeout-error.ts'

/** Time limits of a call in milliseconds; `Infinity` for no limit. */
export interface CallLimits {
  readonly firstUpdateMs: number
  readonly idleMs: number
  readonly attemptMs: number
}

/** The limit that was reached. */
export interface Stall {
  readonly phase: TimeoutPhase
  readonly timeoutMs: number
}

/**
 * Watches the updates of one call as they pass. The returned function resolves when an update takes too
 * long, or the call as a whole. Returns `undefined` if there is no limit.
 */
export function watchForStall(
  context: ChatContext,
  clock: Clock,
  { firstUpdateMs, idleMs, attemptMs }: CallLimits,
): ((over: AbortSignal) => Promise<Stall>) | undefined {
  const startedAt = clock.now()
  let since = startedAt
  let hasUpdates = false
  // A plain answer arrives in one piece, so there are no updates to watch.
  const shortest = context.stream ? Math.min(firstUpdateMs, idleMs) : Infinity
  if (shortest === Infinity && attemptMs === Infinity) return undefined
  if (shortest < Infinity) {
    context.transformUpdates({
      start() {
        hasUpdates = false
        since = clock.now()
      },
      transform(update, controller) {
        hasUpdates = true
        since = clock.now()
        controller.enqueue(update)
      },
    })
  }

  return async (over) => {
    for (;;) {
      const now = clock.now()
      const attemptLeft = startedAt + attemptMs - now
      if (attemptLeft <= 0) return { phase: 'attempt', timeoutMs: attemptMs }
      // Time that a slow reader takes is no stall; frequent looks tell the two apart.
      if (!context.awaited) since = now
      const timeoutMs = hasUpdates ? idleMs : firstUpdateMs
      const left = shortest < Infinity ? since + timeoutMs - now : Infinity
      if (left <= 0) return { phase: hasUpdates ? 'idle' : 'first-update', timeoutMs }
      await clock.sleep(Math.min(left, attemptLeft, shortest / looks), over)
    }
  }
}

/** Looks within the shortest limit. */
const looks = 20
