import { checkOptions, checkTimeLimit } from '../base/check-options.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { Clock } from '../base/timers.ts'
import { callLater } from '../base/timers.ts'

/**
 * Point at which a run is cancelled: `now` aborts it, `after-model` waits for the current model
 * call, `after-tools` also for the current tool calls.
 */
export type CancelMode = 'now' | 'after-model' | 'after-tools'

/** The part of a run that a control uses. */
export interface Cancellable {
  abort(reason: unknown): void
  readonly clock: Clock
}

/** Options of `RunControl.cancel`. */
export interface CancelOptions {
  /** Point at which the run is cancelled. @default 'now' */
  readonly mode?: CancelMode | undefined
  /**
   * Time limit for reaching a safe point in milliseconds, after which the run is aborted.
   * @default no limit
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Cancels the runs that received it as `control`, and those that they start through `agentTool`. At a
 * safe point, a run ends as `paused` with the reason `cancelled` and a checkpoint to resume from;
 * an abort rejects with the code `aborted`.
 */
export class RunControl {
  #mode: CancelMode | undefined
  readonly #runs = new Set<Cancellable>()
  #stopTimers: (() => void)[] = []
  #idle: (() => void)[] = []

  /** Mode in which the runs are being cancelled. Undefined before `cancel`. */
  get mode(): CancelMode | undefined {
    return this.#mode
  }

  /**
   * Cancels the runs. Another call can only make it more urgent. Resolves when no run is active;
   * each run's own promise reports how it ended.
   * @throws RangeError or TypeError that names the option and the value
   */
  cancel({ mode = 'now', timeoutMs }: CancelOptions = {}): Promise<void> {
    const urgency = urgencies.indexOf(mode)
    checkOptions('cancel', { mode }, { mode: urgencies })
    checkTimeLimit('cancel', 'timeoutMs', timeoutMs, '0 or more')
    if (urgency > urgencies.indexOf(this.#mode!)) this.#mode = mode
    if (mode === 'now') this.#abort()
    else if (timeoutMs !== undefined && this.#runs.size > 0) {
      const { clock } = [...this.#runs][0]!
      this.#stopTimers.push(callLater(clock, timeoutMs, () => void this.cancel()))
    }
    return this.#runs.size === 0 ? Promise.resolve() : new Promise((done) => this.#idle.push(done))
  }

  /** @internal */
  attach(run: Cancellable): void {
    this.#runs.add(run)
    if (this.#mode === 'now') this.#abort()
  }

  /** @internal */
  detach(run: Cancellable): void {
    this.#runs.delete(run)
    if (this.#runs.size > 0) return
    for (const stop of this.#stopTimers.splice(0)) stop()
    for (const done of this.#idle.splice(0)) done()
  }

  #abort(): void {
    const reason = new LamellaError('the run was cancelled', { code: 'aborted' })
    for (const run of this.#runs) run.abort(reason)
  }
}

const urgencies: readonly CancelMode[] = ['after-tools', 'after-model', 'now']
