import type { RunContext, RunEvent } from '@lamella/core'

/** Something that a middleware did, for whoever watches the run. */
export interface PipelineStep {
  /** The middleware's name. */
  readonly middleware: string
  /** On the way in, on the way out, something failed, it calls again, it stopped the work. */
  readonly mark: 'in' | 'out' | 'failed' | 'again' | 'stopped'
  readonly text: string
  readonly elapsedMs?: number | undefined
}

/** Sends a step to the caller, inside the stream. Middlewares need to know nothing about terminals. */
export function report({ run }: { readonly run: RunContext }, step: PipelineStep): void {
  run.emit({ type: 'middleware-step', data: step })
}

/** The step that an event of the stream carries, if it carries one. */
export function stepOf(event: RunEvent | undefined): PipelineStep | undefined {
  return event?.type === 'middleware-step' ? (event.data as PipelineStep) : undefined
}
