import type {
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
  ProviderErrorKind,
} from '@lamella/core'
import type { Clock, MiddlewareOptions, OptionRules } from '@lamella/core/authoring'
import {
  defineChatMiddleware,
  checkOptions,
  checkTimeLimit,
  declareChatOption,
  defineFunctionMiddleware,
  middlewareRules,
  reporter,
} from '@lamella/core/authoring'
import type { BackoffOptions } from './backoff.ts'
import { backoffRules, exponential } from './backoff.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { RetryDecision, RetryFailure, RetryReply } from './retry-decision.ts'
import type { RetryEvent } from './retry-event.ts'
import type { ModelRetrySettings } from './retry-model-call.ts'
import { retryModelCall } from './retry-model-call.ts'
import type { RetrySettings } from './retry-plan.ts'
import type { ToolRetryOptions } from './retry-tool-call.ts'
import { retryToolCall } from './retry-tool-call.ts'

/** Options of `retry`. `when` chooses model calls; `tools.when` chooses tool calls. */
export interface RetryOptions extends MiddlewareOptions<ChatContext, RetryEvent>, BackoffOptions {
  /**
   * Retries of a model call, after the first try. 0 makes none, and still turns off the SDK's own.
   * @default 2
   */
  readonly maxRetries?: number | undefined
  /**
   * Retries for failures of one kind, overriding `maxRetries`.
   * @default none
   */
  readonly maxRetriesByKind?: Readonly<Partial<Record<ProviderErrorKind, number>>> | undefined
  /**
   * Judges a failure; `undefined` leaves it to the default.
   * @default follows `error.retry.retryable` of a `ProviderError`
   */
  readonly retryOn?: ((failure: RetryFailure) => RetryDecision | Promise<RetryDecision>) | undefined
  /**
   * Judges a reply; any value but `false` and `undefined` rejects it. A streamed reply is held back
   * until it is judged, unless `stream` is `restart`.
   * @default accepts all
   */
  readonly rejectReply?: ((reply: RetryReply) => RetryDecision | Promise<RetryDecision>) | undefined
  /**
   * Waits as long as the provider asks for.
   * @default true
   */
  readonly respectRetryAfter?: boolean | undefined
  /**
   * Longest wait in milliseconds that a provider may ask for. Beyond it the call fails at once.
   * @default 60_000
   */
  readonly maxRetryAfterMs?: number | undefined
  /**
   * Time limit in milliseconds from the start of the first try. A wait that would end later is not
   * started.
   * @default 120_000
   */
  readonly maxElapsedMs?: number | undefined
  /**
   * Limits retries in proportion to calls, across middleware. See `retryBudget()`.
   * @default none
   */
  readonly retryBudget?: RetryBudget | undefined
  /**
   * Retries of a streamed call: only before content has reached the reader, also after that (the reader
   * gets an update with `restart: true`), or never.
   * @default 'before-first-content'
   */
  readonly stream?: ModelRetrySettings['stream'] | undefined
  /**
   * `any` also repeats calls that may have had an effect at the provider.
   * @default 'safe-only'
   */
  readonly replay?: ModelRetrySettings['replay'] | undefined
  /**
   * Ends a call that has no tries left: throws the last error, or returns what the function returns.
   * `undefined` throws the last error.
   * @default 'throw'
   */
  readonly onExhausted?: ModelRetrySettings['onExhausted'] | undefined
  /**
   * Options for tool calls; `false` never retries them.
   * @default {}
   */
  readonly tools?: ToolRetryOptions | false | undefined
  /**
   * Source of time and sleep.
   * @default the run's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Source of randomness for jitter, from 0 up to 1.
   * @default the run's random numbers
   */
  readonly random?: (() => number) | undefined
}

/**
 * Calls the model again when a call fails in a way that the provider says is worth a retry, or when a
 * reply is rejected, and repeats failed calls of tools that are safe to repeat. It owns the retries of
 * all that is inside: SDKs and middleware further in make none.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent, ProviderError } from '@lamella/core'
 * import { retry } from '@lamella/middleware-retry'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const busy = new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
 * const client = scriptedClient([busy, 'It is sunny.'])
 * const agent = new Agent({ client, middleware: [retry({ initialDelayMs: 10 })] })
 * console.log((await agent.run('How is Rome?')).text) // It is sunny.
 * ```
 */
export function retry(
  options: RetryOptions = {},
): readonly (ChatMiddleware | FunctionMiddleware)[] {
  check(options)
  // Retries of a rejected reply tell the cache so, which may not be there.
  declareChatOption('cache')
  const { maxRetries = 2, maxRetriesByKind = {}, tools = {} } = options
  const { replay = 'safe-only', stream = 'before-first-content', onExhausted = 'throw' } = options
  const { name = 'retry', retryOn, rejectReply } = options
  const isShadow = options.mode === 'shadow'
  const settings: RetrySettings = {
    name,
    isShadow,
    backoff: (random) => exponential(options, options.random ?? random),
    respectRetryAfter: options.respectRetryAfter ?? true,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 60_000,
    maxElapsedMs: options.maxElapsedMs ?? 120_000,
    retryBudget: isShadow ? undefined : options.retryBudget,
    clock: options.clock,
    report: reporter('retry', options.onEvent),
  }
  const ofModel = {
    maxRetries,
    maxRetriesByKind,
    retryOn,
    rejectReply,
    stream,
    replay,
    onExhausted,
  }
  const chat = defineChatMiddleware('retry', options, retryModelCall({ ...settings, ...ofModel }))
  if (tools === false) return [chat]
  const ofTools = { tools, maxRetries: tools.maxRetries ?? maxRetries, retryBudget: undefined }
  const { mode } = options
  return [
    chat,
    defineFunctionMiddleware('retry', { name, mode }, retryToolCall({ ...settings, ...ofTools })),
  ]
}

function check(options: RetryOptions): void {
  const { maxRetryAfterMs, retryBudget, onExhausted } = options ?? {}
  checkOptions('retry', options, {
    ...middlewareRules,
    ...backoffRules,
    maxRetries: 0,
    maxRetriesByKind: kindRules,
    retryOn: 'function?',
    rejectReply: 'function?',
    respectRetryAfter: [true, false],
    maxRetryAfterMs: 'any',
    maxElapsedMs: 'ms',
    retryBudget: 'any',
    'retryBudget.takeRetry': retryBudget ? 'function' : 'any',
    stream: ['before-first-content', 'restart', 'never'],
    replay: ['safe-only', 'any'],
    onExhausted: onExhausted === 'throw' ? 'any' : 'function?',
    tools: {
      when: 'function?',
      maxRetries: 0,
      retryOn: 'function?',
      idempotencyKey: 'function?',
    },
    clock: 'any',
    random: 'function?',
  })
  exponential(options, Math.random)
  checkTimeLimit('retry', 'maxRetryAfterMs', maxRetryAfterMs, '0 or more')
}

const kindRules: OptionRules<Record<ProviderErrorKind, number>> = {
  rate_limit: 0,
  quota: 0,
  overloaded: 0,
  timeout: 0,
  network: 0,
  auth: 0,
  invalid_request: 0,
  context_length: 0,
  content_filter: 0,
  not_found: 0,
  truncated_stream: 0,
  server: 0,
}
