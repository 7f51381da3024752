import type { RunContext, RunEvent } from '@lamella/core'

/** Something that a layer did, for whoever watches the run. */
export interface LayerStep {
  /** The layer's name. */
  readonly layer: string
  /** On the way in, on the way out, something failed, it calls again, it stopped the work. */
  readonly mark: 'in' | 'out' | 'failed' | 'again' | 'stopped'
  readonly text: string
  readonly elapsedMs?: number | undefined
}

/** Sends a step to the caller, inside the stream. Layers need to know nothing about terminals. */
export function report({ run }: { readonly run: RunContext }, step: LayerStep): void {
  run.emit({ type: 'layer-step', data: step })
}

/** The step that an event of the stream carries, if it carries one. */
export function stepOf(event: RunEvent | undefined): LayerStep | undefined {
  return event?.type === 'layer-step' ? (event.data as LayerStep) : undefined
}
