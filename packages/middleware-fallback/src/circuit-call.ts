import type { ChatContext, ChatResponse, RunContext } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { isControlFlow, withinStoreTime } from '@lamella/core/authoring'
import type { CircuitBreakerEvent } from './circuit-breaker-event.ts'
import { CircuitOpenError, isCircuitOpenError } from './circuit-open-error.ts'
import type { CircuitState, Passage } from './circuit-state.ts'

/** Settings of a `CircuitCall`. */
export interface CircuitSettings {
  readonly name: string
  readonly isShadow: boolean
  readonly clock: Clock
  /** For each answer of the store. */
  readonly storeTimeoutMs: number
  readonly isFailure: (error: unknown) => boolean
  readonly report: (run: RunContext, event: CircuitBreakerEvent) => void
}

/** One model call that passes a circuit. */
export class CircuitCall {
  readonly #settings: CircuitSettings
  readonly #state: CircuitState
  readonly #circuit: string
  readonly #context: ChatContext

  constructor(
    settings: CircuitSettings,
    state: CircuitState,
    circuit: string,
    context: ChatContext,
  ) {
    this.#settings = settings
    this.#state = state
    this.#circuit = circuit
    this.#context = context
  }

  async run(callNext: () => Promise<ChatResponse>): Promise<void> {
    const { name, isShadow } = this.#settings
    const { kind, ...hint } = await this.#ask<Passage>(this.#state.enter(), { kind: 'closed' })
    if (kind === 'open') {
      this.#tell({ status: 'rejected', ...hint })
      const { provider } = this.#context.client
      if (!isShadow) throw new CircuitOpenError(name, this.#circuit, provider, hint)
      await callNext()
      return
    }
    if (kind === 'trial') this.#tell({ status: 'trying' })
    try {
      await callNext()
    } catch (error) {
      await this.#failed(kind, error)
      throw error
    }
    await this.#succeeded(kind)
  }

  async #failed(kind: 'closed' | 'trial', error: unknown): Promise<void> {
    const isCounted = !isControlFlow(error, this.#context.signal) && !isCircuitOpenError(error)
    if (isCounted && this.#settings.isFailure(error)) {
      const opened = await this.#ask(this.#state.failed(kind), undefined)
      if (opened !== undefined) this.#tell({ status: 'opened', ...opened })
    } else if (isCounted && isProviderError(error)) {
      // The provider answered with a rejection, so it is available.
      await this.#succeeded(kind)
    } else if (kind === 'trial') {
      // The run may be over, and need not wait for this.
      this.#state.leaveTrial().catch(() => {})
    }
  }

  async #succeeded(kind: 'closed' | 'trial'): Promise<void> {
    if (await this.#ask(this.#state.succeeded(kind), false)) this.#tell({ status: 'closed' })
  }

  /** Asks the store. A failing store keeps no call from a model. */
  async #ask<Answer>(question: Promise<Answer>, otherwise: Answer): Promise<Answer> {
    const { signal } = this.#context
    try {
      const { clock, storeTimeoutMs: timeoutMs } = this.#settings
      return await withinStoreTime(question, { clock, timeoutMs, signal })
    } catch (error) {
      if (signal.aborted) throw error
      this.#tell({ status: 'store_failed' })
      return otherwise
    }
  }

  #tell(event: Omit<CircuitBreakerEvent, 'circuit' | 'shadow'>): void {
    const { isShadow, report } = this.#settings
    const shadow = isShadow ? { shadow: true as const } : undefined
    report(this.#context.run, { ...event, circuit: this.#circuit, ...shadow })
  }
}
