import type { ChatContext, ChatMiddleware, KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock, MiddlewareOptions, StoreNeed } from '@lamella/core/authoring'
import {
  defineChatMiddleware,
  checkOptions,
  checkStore,
  middlewareRules,
  reporter,
  systemClock,
  wrongOption,
} from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import type { CircuitBreakerEvent } from './circuit-breaker-event.ts'
import type { CircuitSettings } from './circuit-call.ts'
import { CircuitCall } from './circuit-call.ts'
import type { CircuitRules } from './circuit-state.ts'
import { CircuitState } from './circuit-state.ts'
import { clientName } from './client-name.ts'
import type { FailureClass } from './failure-class.ts'
import { checkClasses, isOfClass } from './failure-class.ts'

/** Options of `circuitBreaker`. */
export interface CircuitBreakerOptions extends MiddlewareOptions<ChatContext, CircuitBreakerEvent> {
  /**
   * Groups calls by circuit. Each circuit has its own state.
   * @default groups by client (its name and `fingerprint`) and model
   */
  readonly circuitOf?: ((context: ChatContext) => string) | undefined
  /**
   * Errors that count as failures: classes, or a function. Other provider errors count as successes;
   * errors of no provider do not count.
   * @default ['transient', 'quota']
   */
  readonly failOn?: readonly FailureClass[] | ((error: unknown) => boolean) | undefined
  /**
   * Share of failures among the calls of the window at which the circuit opens, above 0 up to 1.
   * @default 0.5
   */
  readonly failureRate?: number | undefined
  /**
   * Minimum number of calls in the window; below it the circuit stays closed.
   * @default 10
   */
  readonly minimum?: number | undefined
  /**
   * Milliseconds for which calls count; at least half of it.
   * @default 60_000
   */
  readonly windowMs?: number | undefined
  /**
   * Milliseconds for which the circuit stays open.
   * @default 30_000
   */
  readonly openMs?: number | undefined
  /**
   * Number of concurrent trial calls after that. The first success closes the circuit.
   * @default 1
   */
  readonly halfOpen?: number | undefined
  /**
   * Store of the state, with `increment`. With a shared store, processes share circuits.
   * @default the agent's, otherwise this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds to wait for each answer of the store. After it, the call proceeds as if the circuit were
   * closed.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Stands before the keys in the store.
   * @default 'circuit:'
   */
  readonly prefix?: string | undefined
  /**
   * Source of time.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
}

/**
 * Stops calls of a model that keeps failing: after too many failures, calls are rejected with a
 * `CircuitOpenError` for a while, then a few trial calls are made. If the store fails, calls continue.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { circuitBreaker } from '@lamella/middleware-fallback'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = circuitBreaker({ failureRate: 0.5, openMs: 10_000 })
 * const agent = new Agent({ client: scriptedClient(['Hello.']), middleware })
 * await agent.run('Hi')
 * ```
 */
export function circuitBreaker(options: CircuitBreakerOptions = {}): ChatMiddleware {
  check(options)
  const { name = 'circuit-breaker', circuitOf, failOn, prefix = 'circuit:' } = options
  const { clock = systemClock, store: own, storeTimeoutMs = 1000 } = options
  const storeOf = perStore(own, (store) => store ?? memoryStore({ clock }))
  const classes = typeof failOn === 'object' ? failOn : usual
  const settings: CircuitSettings = {
    name,
    isShadow: options.mode === 'shadow',
    clock,
    storeTimeoutMs,
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
  const breaker = defineChatMiddleware('circuit-breaker', options, (context, callNext) => {
    const { circuit, key } = circuitOf === undefined ? serverOf(context) : named(circuitOf(context))
    const state = new CircuitState(storeOf(context.run), rules, clock, prefix + key)
    return new CircuitCall(settings, state, circuit, context).run(callNext)
  })
  return own === undefined ? { ...breaker, storeNeeds } : breaker
}

const storeNeeds: readonly StoreNeed[] = ['increment']
const usual: readonly FailureClass[] = ['transient', 'quota']

/** Name of a circuit for people, and its key in the store. */
interface Circuit {
  readonly circuit: string
  readonly key: string
}

/** The server that a call goes to, and its model: two servers of one model have two circuits. */
function serverOf({ client, options }: ChatContext): Circuit {
  const circuit = clientName(client, options.model)
  return {
    circuit,
    key: client.fingerprint === undefined ? circuit : `${circuit} ${client.fingerprint}`,
  }
}

function named(circuit: string): Circuit {
  return { circuit, key: circuit }
}

function check(options: CircuitBreakerOptions): void {
  checkOptions('circuitBreaker', options, {
    ...middlewareRules,
    circuitOf: 'function?',
    failOn: 'any',
    failureRate: 'any',
    minimum: 1,
    windowMs: 1,
    openMs: 1,
    halfOpen: 1,
    store: 'any',
    storeTimeoutMs: 'ms',
    prefix: 'string?',
    clock: 'any',
  })
  const { failureRate = 1 } = options
  if (options.store !== undefined) checkStore('circuitBreaker', options.store, storeNeeds)
  checkClasses('circuitBreaker', 'failOn', options.failOn)
  if (!(failureRate > 0 && failureRate <= 1)) {
    throw wrongOption('circuitBreaker', 'failureRate', 'above 0 up to 1', failureRate)
  }
}
