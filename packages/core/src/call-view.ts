import type { LayerContext, LayeredCall } from './layered-call.ts'
import type { Run } from './run.ts'

/** What a view shows of any call. */
interface ViewedCall<Result> extends LayeredCall<Result> {
  readonly run: Run
  readonly metadata: Record<string, unknown>
}

/** What the views that layers have of a call share, at all levels. */
export abstract class CallView<Call extends ViewedCall<Result>, Result>
  implements LayerContext<Result>
{
  readonly call: Call
  readonly depth: number
  inside: Promise<Result> | undefined = undefined
  /** What a layer has put in the place of the run's signal. */
  ownSignal: AbortSignal | undefined

  constructor(call: Call, depth: number, ownSignal: AbortSignal | undefined) {
    this.call = call
    this.depth = depth
    this.ownSignal = ownSignal
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }

  get signal(): AbortSignal {
    return this.ownSignal ?? this.call.run.signal
  }

  set signal(signal: AbortSignal) {
    this.ownSignal = signal
  }

  abstract derive(): this
}
