import { checkOptions, wrongOption } from './check-options.ts'
import { LamellaError } from './lamella-error.ts'

/**
 * When a run is cancelled: at once, which aborts it; when the model call under way is over; or when the
 * tool calls under way are over, too.
 */
export type CancelMode = 'now' | 'after-model' | 'after-tools'

/** What a control needs of a run. */
export interface Cancellable {
  abort(reason: unknown): void
}

/** How a run is cancelled. */
export interface CancelOptions {
  /** @default 'now' */
  readonly mode?: CancelMode | undefined
  /**
   * Milliseconds after which a run that has found no safe point is aborted.
   * @default it may take as long as it takes
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Cancels the runs that it was given to as `control`, and those that they start through `asTool`. At a
 * safe point a run ends as `paused`, with the reason `cancelled` and a checkpoint to go on from; an abort
 * rejects with the code `aborted`.
 */
export class RunControl {
  #mode: CancelMode | undefined
  readonly #runs = new Set<Cancellable>()
  #timers: ReturnType<typeof setTimeout>[] = []
  #idle: (() => void)[] = []

  /** How the runs are to be cancelled, if they are. */
  get mode(): CancelMode | undefined {
    return this.#mode
  }

  /**
   * Cancels; once more, it may only become more urgent. Resolves when no run is under way any more: how
   * each of them ended, its caller is told.
   * @throws RangeError or TypeError that names the option and the value
   */
  cancel({ mode = 'now', timeoutMs }: CancelOptions = {}): Promise<void> {
    const urgency = urgencies.indexOf(mode)
    checkOptions('cancel', { mode }, { mode: urgencies })
    if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
      throw wrongOption('cancel', 'timeoutMs', 'from 0 to less than 2 ** 31', timeoutMs)
    }
    if (this.#mode === undefined || urgency > urgencies.indexOf(this.#mode)) this.#mode = mode
    if (mode === 'now') this.#abort()
    else if (timeoutMs !== undefined && this.#runs.size > 0) {
      this.#timers.push(setTimeout(() => void this.cancel(), timeoutMs))
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
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    for (const done of this.#idle.splice(0)) done()
  }

  #abort(): void {
    const reason = new LamellaError('the run was cancelled', { code: 'aborted' })
    for (const run of this.#runs) run.abort(reason)
  }
}

const urgencies: readonly CancelMode[] = ['after-tools', 'after-model', 'now']
