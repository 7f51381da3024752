import type { ChatContext, ChatMiddleware, KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import {
  attemptOf,
  chatLayer,
  checkOptions,
  layerRules,
  reporter,
  systemClock,
  wrongOption,
} from '@lamella/core/authoring'
import type { CircuitBreakerEvent } from './circuit-breaker-event.ts'
import type { CircuitSettings } from './circuit-call.ts'
import { CircuitCall } from './circuit-call.ts'
import type { CircuitRules } from './circuit-state.ts'
import { CircuitState } from './circuit-state.ts'
import type { FailureClass } from './failure-class.ts'
import { checkClasses, isOfClass } from './failure-class.ts'

export interface CircuitBreakerOptions extends LayerOptions<ChatContext, CircuitBreakerEvent> {
  /**
   * Which circuit a call belongs to. Of each there is a state of its own.
   * @default the provider and the model
   */
  readonly circuitOf?: ((context: ChatContext) => string) | undefined
  /**
   * What counts as a failure: classes, or a function. Other errors of the provider count as calls that
   * went well, and what no provider failed with does not count.
   * @default ['transient', 'quota']
   */
  readonly failOn?: readonly FailureClass[] | ((error: unknown) => boolean) | undefined
  /**
   * The part of failures among calls, above 0 up to 1, at which the circuit opens.
   * @default 0.5
   */
  readonly failureRate?: number | undefined
  /**
   * Calls in the window below which it stays closed.
   * @default 10
   */
  readonly minimum?: number | undefined
  /**
   * Milliseconds that calls count for; at least half of it.
   * @default 60_000
   */
  readonly windowMs?: number | undefined
  /**
   * Milliseconds that it stays open.
   * @default 30_000
   */
  readonly openMs?: number | undefined
  /**
   * Calls at once that try it out after that. The first that goes well closes it.
   * @default 1
   */
  readonly halfOpen?: number | undefined
  /**
   * Where the state is kept; a shared one makes processes share circuits.
   * @default the memory of this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Stands before the keys in the store.
   * @default 'circuit:'
   */
  readonly prefix?: string | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

/**
 * Stops asking a model that keeps failing: after too many failures calls are rejected with a
 * `CircuitOpenError` for a while, and then a few try it out. If the store fails, calls go on.
 * @throws RangeError or TypeError that names the option and the value
 */
export function circuitBreaker(options: CircuitBreakerOptions = {}): ChatMiddleware {
  check(options)
  const { name = 'circuit-breaker', circuitOf = modelOf, failOn, prefix = 'circuit:' } = options
  const { clock = systemClock, store = memoryStore({ clock }) } = options
  const classes = typeof failOn === 'object' ? failOn : usual
  const settings: CircuitSettings = {
    name,
    isShadow: options.mode === 'shadow',
    isFailure: typeof failOn === 'function' ? failOn : (error) => isOfClass(error, classes),
    report: reporter('circuit_breaker', options.onEvent),
  }
  const rules: CircuitRules = {
    failureRate: options.failureRate ?? 0.5,
    minimum: options.minimum ?? 10,
    windowMs: options.windowMs ?? 60_000,
    openMs: options.openMs ?? 30_000,
    halfOpen: options.halfOpen ?? 1,
  }
  return chatLayer('circuit-breaker', options, (context, callNext) => {
    const circuit = circuitOf(context)
    const state = new CircuitState(store, rules, clock, prefix + circuit)
    return new CircuitCall(settings, state, circuit, context).run(callNext)
  })
}

const usual: readonly FailureClass[] = ['transient', 'quota']

function modelOf(context: ChatContext): string {
  const { provider, model } = attemptOf(context, { status: 'ok' })
  return model === undefined ? `${provider}` : `${provider}/${model}`
}

function check(options: CircuitBreakerOptions): void {
  const { failureRate = 1, windowMs = 1, openMs = 1 } = options
  checkOptions('circuitBreaker', options, {
    ...layerRules,
    circuitOf: 'function?',
    failOn: 'any',
    failureRate: 'any',
    minimum: 1,
    windowMs: 'any',
    openMs: 'any',
    halfOpen: 1,
    store: 'any',
    'store.compareAndSet': options.store ? 'function' : 'any',
    prefix: 'string?',
    clock: 'any',
  })
  checkClasses('circuitBreaker', 'failOn', options.failOn)
  if (!(failureRate > 0 && failureRate <= 1)) {
    throw wrongOption('circuitBreaker', 'failureRate', 'above 0 up to 1', failureRate)
  }
  for (const [option, ms] of Object.entries({ windowMs, openMs })) {
    if (!(ms > 0 && ms < Infinity)) throw wrongOption('circuitBreaker', option, 'above 0', ms)
  }
}
