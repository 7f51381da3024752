import type { ChatContext } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { TimeoutPhase } from './timeout-error.ts'

/** Milliseconds; `Infinity` where there is no limit. */
export interface CallLimits {
  readonly firstUpdateMs: number
  readonly idleMs: number
  readonly attemptMs: number
}

/** Which limit was reached. */
export interface Stall {
  readonly phase: TimeoutPhase
  readonly timeoutMs: number
}

/**
 * Looks at the updates of one call as they pass. The returned function resolves when there has been
 * none for too long, or when the call takes too long as a whole. Nothing where there is no limit.
 */
export function watchForStall(
  context: ChatContext,
  clock: Clock,
  { firstUpdateMs, idleMs, attemptMs }: CallLimits,
): ((over: AbortSignal) => Promise<Stall>) | undefined {
  const startedAt = clock.now()
  let since = startedAt
  let hasUpdates = false
  // A plain answer comes in one piece, and nothing can be seen of it before.
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
      // What a slow reader does with its time is no stall. Looking often enough tells the two apart.
      if (!context.awaited) since = now
      const timeoutMs = hasUpdates ? idleMs : firstUpdateMs
      const left = shortest < Infinity ? since + timeoutMs - now : Infinity
      if (left <= 0) return { phase: hasUpdates ? 'idle' : 'first-update', timeoutMs }
      await clock.sleep(Math.min(left, attemptLeft, shortest / looks), over)
    }
  }
}

/** How often it looks within the shortest limit. */
const looks = 20
