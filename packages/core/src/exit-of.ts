import type { RunStatus } from './agent-response.ts'
import { isControlFlow } from './control-flow.ts'
import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import { endingOf } from './run-ending.ts'
import { isTermination } from './termination.ts'

/** How a call left a layer by an error. */
export type LayerExit = Exclude<RunStatus, 'completed' | 'max_iterations'> | 'aborted' | 'failed'

/** What an error that leaves `callNext()` means: an intended end, an abort, or a failure. */
export function exitOf(error: unknown, signal?: AbortSignal): LayerExit {
  if (LamellaError.is(error, 'guardrail_tripped')) return 'blocked'
  if (isTermination(error)) return endingOf(error).status as LayerExit
  if (isPause(error)) return 'paused'
  return isControlFlow(error, signal) ? 'aborted' : 'failed'
}
