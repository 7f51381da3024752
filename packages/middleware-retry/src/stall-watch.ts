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
  // Milliseconds since then, at the last look and at the next one.
  let [elapsed, next] = [0, 0]
  let since = 0
  let hasUpdates = false
  // A plain answer arrives in one piece, so there are no updates to watch.
  const shortest = context.stream ? Math.min(firstUpdateMs, idleMs) : Infinity
  if (shortest === Infinity && attemptMs === Infinity) return undefined
  // In a durable run, an update may come by another time than that of the looks.
  const passed = (): number => Math.min(Math.max(clock.now() - startedAt, elapsed), next)
  if (shortest < Infinity) {
    context.transformUpdates({
      start() {
        hasUpdates = false
        since = passed()
      },
      transform(update, controller) {
        hasUpdates = true
        since = passed()
        controller.enqueue(update)
      },
    })
  }

  return async (over) => {
    for (;;) {
      // The clock of a durable run stands still between its steps.
      elapsed = Math.max(clock.now() - startedAt, next)
      const attemptLeft = attemptMs - elapsed
      if (attemptLeft <= 0) return { phase: 'attempt', timeoutMs: attemptMs }
      // Time that a slow reader takes is no stall; frequent looks tell the two apart.
      if (!context.awaited) since = elapsed
      const timeoutMs = hasUpdates ? idleMs : firstUpdateMs
      const left = shortest < Infinity ? since + timeoutMs - elapsed : Infinity
      if (left <= 0) return { phase: hasUpdates ? 'idle' : 'first-update', timeoutMs }
      const waitMs = Math.min(left, attemptLeft, shortest / looks)
      next = elapsed + waitMs
      await clock.sleep(waitMs, over, true)
    }
  }
}

/** Looks within the shortest limit. */
const looks = 20
