import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import { isTermination } from './termination.ts'

/**
 * Whether what was thrown steers the run, and is no failure: a termination, a pause, an abort. It is
 * never retried, cached, counted as a failure or swallowed; a layer that catches it throws it again.
 */
export function isControlFlow(error: unknown, signal?: AbortSignal): boolean {
  return (
    signal?.aborted === true ||
    isTermination(error) ||
    isPause(error) ||
    LamellaError.is(error, 'aborted') ||
    (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
  )
}
