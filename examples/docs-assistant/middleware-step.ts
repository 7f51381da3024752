import type { RunContext, RunEvent } from '@lamella/core'

/** An action of a middleware, for the screen. */
export interface PipelineStep {
  /** The middleware's name. */
  readonly middleware: string
  /** On the way in, on the way out, failed, retried, or stopped. */
  readonly mark: 'in' | 'out' | 'failed' | 'again' | 'stopped'
  readonly text: string
  readonly elapsedMs?: number | undefined
}

/** Sends a step to the caller, inside the stream. Middleware knows nothing about terminals. */
export function report({ run }: { readonly run: RunContext }, step: PipelineStep): void {
  run.emit({ type: 'middleware-step', data: step })
}

/** Returns the step in an event of the stream, if it has one. */
export function stepOf(event: RunEvent | undefined): PipelineStep | undefined {
  return event?.type === 'middleware-step' ? (event.data as PipelineStep) : undefined
}
