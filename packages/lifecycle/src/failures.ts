import { LamellaError } from '@lamella/core'
import { exitOf, isControlFlow, perRun } from '@lamella/core/authoring'
import type { RunContext } from '@lamella/core'
import type { ErrorSource, LifecycleHooks } from './hooks.ts'

/** Several hooks failed, or hooks after something that had failed already. The first is the cause. */
export class LifecycleError extends LamellaError {
  /** The failures, in order of occurrence. */
  readonly errors: readonly unknown[]

  constructor(errors: readonly unknown[]) {
    super(`${errors.length} failures, of which the first is the cause; see \`errors\``, {
      code: 'hook_failed',
      cause: errors[0],
    })
    this.errors = errors
  }

  override get name(): string {
    return 'LifecycleError'
  }
}

/**
 * Runs `after` when `body` is done, unless the run pauses. If both fail, both errors are kept, but
 * a control-flow error takes precedence.
 */
export async function collecting(
  run: RunContext,
  body: () => Promise<void>,
  after: (error: unknown) => Promise<void>,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined
  try {
    await body()
  } catch (error) {
    if (exitOf(error) === 'paused') throw error
    failure = { error }
  }
  try {
    await after(failure?.error)
  } catch (error) {
    if (failure === undefined) throw error
    if (!isControlFlow(failure.error, run.signal)) {
      const { error: first } = failure
      throw new LifecycleError([...(isLifecycleError(first) ? first.errors : [first]), error])
    }
    run.emit({
      type: 'hook_failed',
      data: { code: LamellaError.is(error) ? error.code : 'unknown' },
    })
  }
  if (failure !== undefined) throw failure.error
}

function isLifecycleError(error: unknown): error is LifecycleError {
  return LamellaError.is(error, 'hook_failed')
}

/** Failures of one run, reported to one set of hooks. */
class Failures {
  readonly #hooks: LifecycleHooks
  readonly #run: RunContext
  readonly #told = new Set<unknown>()

  constructor(hooks: LifecycleHooks, run: RunContext) {
    this.#hooks = hooks
    this.#run = run
  }

  /** Runs `work` and reports its failure unless it was reported before. */
  async told<Value>(source: ErrorSource, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      await this.tell(error, source)
      throw error
    }
  }

  async tell(error: unknown, source: ErrorSource): Promise<void> {
    const { onError } = this.#hooks
    if (error === undefined || onError === undefined || isControlFlow(error, this.#run.signal))
      return
    if (isLifecycleError(error)) {
      for (const part of error.errors) await this.tell(part, source)
      return
    }
    if (this.#told.has(error)) return
    this.#told.add(error)
    try {
      await onError({ error, source, iteration: this.#run.iteration, run: this.#run })
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

/** By run, and not on the hooks: they serve many runs at once. */
const failures = perRun(() => new Map<LifecycleHooks, Failures>())

/** The failures of a run, the same at each level. */
export function failuresOf(hooks: LifecycleHooks, run: RunContext): Failures {
  const ofRun = failures(run)
  const known = ofRun.get(hooks) ?? new Failures(hooks, run)
  ofRun.set(hooks, known)
  return known
}
