import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '@lamella/core/authoring'
import { systemClock, unlessAborted } from '@lamella/core/authoring'
import type { DurableEngine } from '../steps/durable-engine.ts'
import { randomNumbers } from './random-numbers.ts'

/** Random numbers of one step. */
type InStep = () => number

/**
 * Time and random numbers of a workflow, equal in every pass. Between steps, it is the time at which the last step
 * ended. Inside of a step, it is the time of the machine, and each step has random numbers of its own.
 */
export class WorkflowScope {
  readonly clock: Clock = {
    now: () => (this.#inStep.getStore() === undefined ? this.#at : Date.now()),
    sleep: (...wait) => this.#sleep(...wait),
  }
  readonly random = (): number => (this.#inStep.getStore() ?? this.#between)()
  readonly #engine: DurableEngine
  readonly #inStep = new AsyncLocalStorage<InStep>()
  readonly #counts = new Map<string, number>()
  #between: () => number = Math.random
  #seed = ''
  #at = 0

  private constructor(engine: DurableEngine) {
    this.#engine = engine
  }

  /** Begins a pass. The first one chooses a seed. */
  static async begin(engine: DurableEngine): Promise<WorkflowScope> {
    const scope = new WorkflowScope(engine)
    scope.#seed = await scope.step('begin', async () => crypto.randomUUID())
    scope.#between = randomNumbers(scope.#seed, '')
    return scope
  }

  /** Runs a step of the engine. */
  readonly step: DurableEngine['step'] = async (name, work) => {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    const { at, value } = await this.#engine.step(name, () =>
      this.within(name, async () => {
        const made = await work()
        return { at: Date.now(), value: made }
      }),
    )
    this.#at = Math.max(this.#at, at)
    return value
  }

  /** Runs `work` as the last step of this name does. */
  readonly within = <Value>(name: string, work: () => Promise<Value>): Promise<Value> =>
    this.#inStep.run(randomNumbers(this.#seed, `${name} ${this.#counts.get(name)}`), work)

  async #sleep(ms: number, signal?: AbortSignal, isLimit?: boolean): Promise<void> {
    const { sleep } = this.#engine
    const isInStep = this.#inStep.getStore() !== undefined
    // Limits of other work, such as a call of a store, are in no step either.
    if (sleep === undefined || isInStep || isLimit) return systemClock.sleep(ms, signal)
    signal?.throwIfAborted()
    await (signal === undefined ? sleep(ms) : unlessAborted(signal, sleep(ms)))
    this.#at += ms
  }
}
