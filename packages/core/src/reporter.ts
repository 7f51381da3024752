import type { RunContext } from './run-context.ts'

/**
 * Makes the function by which a layer tells what it did: as an event of the run of type `type`, and to
 * `onEvent`. Events must not carry what users or models wrote.
 */
export function reporter<Event>(
  type: string,
  onEvent: ((event: Event) => void) | undefined,
): (run: RunContext, event: Event) => void {
  return (run, event) => {
    run.emit({ type, data: event })
    try {
      onEvent?.(event)
    } catch {
      // An observer cannot break what it observes.
    }
  }
}
