import type {
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
  ProviderErrorKind,
} from '@lamella/core'
import type { Clock, LayerOptions, OptionRules } from '@lamella/core/authoring'
import {
  chatLayer,
  checkOptions,
  functionLayer,
  layerRules,
  reporter,
  systemClock,
  wrongOption,
} from '@lamella/core/authoring'
import type { BackoffOptions } from './backoff.ts'
import { backoffRules, checkMs, exponential } from './backoff.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { RetryDecision, RetryFailure, RetryReply } from './retry-decision.ts'
import type { RetryEvent } from './retry-event.ts'
import type { ModelRetrySettings } from './retry-model-call.ts'
import { retryModelCall } from './retry-model-call.ts'
import type { RetrySettings } from './retry-settings.ts'
import type { ToolRetryOptions } from './retry-tool-call.ts'
import { retryToolCall } from './retry-tool-call.ts'

/** Options of `retry`. `when` is about model calls; `tools.when` is the one of tool calls. */
export interface RetryOptions extends LayerOptions<ChatContext, RetryEvent>, BackoffOptions {
  /**
   * Model calls after the first one. 0 makes none, and still keeps the SDK from making any.
   * @default 2
   */
  readonly maxRetries?: number | undefined
  /**
   * The same for failures of one kind, in place of `maxRetries`.
   * @default none
   */
  readonly maxRetriesByKind?: Readonly<Partial<Record<ProviderErrorKind, number>>> | undefined
  /**
   * Judges a failure; `undefined` leaves it to the provider's word.
   * @default what `error.retry.retryable` of a `ProviderError` says
   */
  readonly retryOn?: ((failure: RetryFailure) => RetryDecision | Promise<RetryDecision>) | undefined
  /**
   * Judges a reply; what is neither `false` nor `undefined` rejects it. A streamed reply is held back
   * until then, unless `stream` is `restart`.
   * @default all are accepted
   */
  readonly rejectReply?: ((reply: RetryReply) => RetryDecision | Promise<RetryDecision>) | undefined
  /**
   * Waits as long as the provider asks.
   * @default true
   */
  readonly respectRetryAfter?: boolean | undefined
  /**
   * Who asks for more milliseconds is not waited for: the call fails at once.
   * @default 60_000
   */
  readonly maxRetryAfterMs?: number | undefined
  /**
   * Milliseconds from the beginning of the first try; a wait that would end later is not begun.
   * @default 120_000
   */
  readonly maxElapsedMs?: number | undefined
  /**
   * Bounds retries in proportion to calls, for one layer or many: `retryBudget()`.
   * @default none
   */
  readonly retryBudget?: RetryBudget | undefined
  /**
   * Whether a streamed call is repeated: as long as no content has reached the reader, even then (who
   * gets an update with `restart: true`), or not at all.
   * @default 'before-first-content'
   */
  readonly stream?: ModelRetrySettings['stream'] | undefined
  /**
   * Whether calls that may have had an effect at the provider are repeated.
   * @default 'safe-only'
   */
  readonly replay?: ModelRetrySettings['replay'] | undefined
  /**
   * What a call that failed for good ends with: the last error, or what a function makes of it. Where
   * that gives `undefined`, the error is thrown; it may throw another one.
   * @default 'throw'
   */
  readonly onExhausted?: ModelRetrySettings['onExhausted'] | undefined
  /**
   * What is done with tool calls; `false` leaves them alone.
   * @default {}
   */
  readonly tools?: ToolRetryOptions | false | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
  /** @default Math.random */
  readonly random?: (() => number) | undefined
}

/**
 * Calls the model again when a call fails in a way the provider says is worth it, or gives a reply that
 * is rejected, and does the same for tools that may be called twice. It owns the retries of what is
 * inside: SDKs and layers further in make none.
 * @throws RangeError or TypeError that names the option and the value
 */
export function retry(
  options: RetryOptions = {},
): readonly (ChatMiddleware | FunctionMiddleware)[] {
  check(options)
  const { maxRetries = 2, maxRetriesByKind = {}, tools = {}, random = Math.random } = options
  const { replay = 'safe-only', stream = 'before-first-content', onExhausted = 'throw' } = options
  const { name = 'retry', retryOn, rejectReply } = options
  const isShadow = options.mode === 'shadow'
  const settings: RetrySettings = {
    name,
    isShadow,
    backoff: exponential(options, random),
    respectRetryAfter: options.respectRetryAfter ?? true,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 60_000,
    maxElapsedMs: options.maxElapsedMs ?? 120_000,
    retryBudget: isShadow ? undefined : options.retryBudget,
    clock: options.clock ?? systemClock,
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
  const chat = chatLayer('retry', options, retryModelCall({ ...settings, ...ofModel }))
  if (tools === false) return [chat]
  const ofTools = { tools, maxRetries: tools.maxRetries ?? maxRetries, retryBudget: undefined }
  const { mode } = options
  return [chat, functionLayer('retry', { name, mode }, retryToolCall({ ...settings, ...ofTools }))]
}

function check(options: RetryOptions): void {
  const { maxRetryAfterMs = 0, maxElapsedMs = 1 } = options
  checkOptions('retry', options, {
    ...layerRules,
    ...backoffRules,
    maxRetries: 0,
    maxRetriesByKind: kindRules,
    retryOn: 'function?',
    rejectReply: 'function?',
    respectRetryAfter: [true, false],
    maxRetryAfterMs: 'any',
    maxElapsedMs: 'any',
    retryBudget: 'any',
    'retryBudget.takeRetry': options.retryBudget ? 'function' : 'any',
    stream: ['before-first-content', 'restart', 'never'],
    replay: ['safe-only', 'any'],
    onExhausted: options.onExhausted === 'throw' ? 'any' : 'function?',
    tools: {
      when: 'function?',
      maxRetries: 0,
      retryOn: 'function?',
      idempotencyKey: 'function?',
    },
    clock: 'any',
    random: 'function?',
  })
  checkMs('maxRetryAfterMs', maxRetryAfterMs)
  if (!(maxElapsedMs > 0)) throw wrongOption('retry', 'maxElapsedMs', 'above 0', maxElapsedMs)
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
