import type { ChatContext, ChatMiddleware, ChatResponse, ProviderErrorKind } from '@lamella/core'
import type { ChatResponseInit } from '@lamella/core/authoring'
import { isProviderError } from '@lamella/core'
import {
  attemptOf,
  failureReason,
  holdPreamble,
  isControlFlow,
  mergeChatOptions,
  unlessAborted,
} from '@lamella/core/authoring'
import { isOwned, ownOptions, reloadCache, replayOf } from './call-options.ts'
import { HeldReply } from './held-reply.ts'
import { ReplyRejectedError } from './reply-rejected-error.ts'
import type { RetryChange, RetryDecision, RetryFailure, RetryReply } from './retry-decision.ts'
import type { GiveUpReason } from './retry-event.ts'
import type { RetryPlan, RetrySettings } from './retry-plan.ts'
import { RetryPlanner } from './retry-plan.ts'

/** A call with no tries left, as `onExhausted` gets it. */
export interface ExhaustedRetry {
  /** Number of the last try, from 1. */
  readonly attempt: number
  /** Reason why no further try is made. */
  readonly because: GiveUpReason
  /** Context of the model call. */
  readonly context: ChatContext
  /** Error of the last try, if it failed. */
  readonly error?: unknown
  /** Last reply, if it was rejected. */
  readonly response?: ChatResponse | undefined
}

/** Checked settings for model calls, with their defaults. `RetryOptions` documents them. */
export interface ModelRetrySettings extends RetrySettings {
  readonly maxRetries: number
  readonly maxRetriesByKind: Partial<Record<ProviderErrorKind, number>>
  readonly retryOn?: ((failure: RetryFailure) => RetryDecision | Promise<RetryDecision>) | undefined
  readonly rejectReply?: ((reply: RetryReply) => RetryDecision | Promise<RetryDecision>) | undefined
  readonly stream: 'before-first-content' | 'restart' | 'never'
  readonly replay: 'safe-only' | 'any'
  readonly onExhausted: 'throw' | ((exhausted: ExhaustedRetry) => Substitute | Promise<Substitute>)
}

/** Result that `onExhausted` may return instead of an error. */
type Substitute = ChatResponse | ChatResponseInit | string | undefined

/** Makes the `process` function of the chat middleware. */
export function retryModelCall(settings: ModelRetrySettings): ChatMiddleware['process'] {
  const { stream, isShadow, retryBudget, report } = settings
  return async (context, callNext) => {
    if (isOwned(context.options)) {
      report(context.run, { status: 'not_owner', level: 'chat', attempt: 1 })
      return callNext()
    }
    if (!isShadow) context.options = ownOptions(context.options)
    if (context.stream && stream === 'never') return callNext()
    retryBudget?.countCall()
    const call = new ModelCall(settings, context)
    for (let attempt = 1; ; attempt++) {
      const miss = await call.try(attempt, callNext)
      if (miss === undefined || !(await call.mayTryAgain(miss))) return
    }
  }
}

/** A try that failed or whose reply was rejected. */
type Miss = { readonly attempt: number } & (
  | { readonly error: unknown; readonly response?: never }
  | { readonly response: ChatResponse; readonly verdict: true | RetryChange }
)

/** Holds one model call and its tries. */
class ModelCall {
  readonly #settings: ModelRetrySettings
  readonly #context: ChatContext
  readonly #planner: RetryPlanner
  readonly #held: HeldReply<true | RetryChange> | undefined
  #attempt = 1

  constructor(settings: ModelRetrySettings, context: ChatContext) {
    this.#settings = settings
    this.#context = context
    this.#planner = new RetryPlanner(settings, context.run)
    const { isShadow, rejectReply, stream } = settings
    if (!context.stream || isShadow) return
    const isHeld = rejectReply !== undefined && stream === 'before-first-content'
    this.#held = isHeld ? new HeldReply((response) => this.#judge(response)) : undefined
    context.transformUpdates(this.#held ?? holdPreamble())
  }

  /** Makes one try, and returns how it failed if it did. */
  async try(attempt: number, callNext: () => Promise<ChatResponse>): Promise<Miss | undefined> {
    this.#attempt = attempt
    const { signal } = this.#context
    try {
      const response = await callNext()
      if (this.#held?.rejected !== undefined) return { attempt, ...this.#held.rejected }
      const verdict = this.#held === undefined ? await this.#judge(response) : undefined
      if (verdict !== undefined) return { attempt, response, verdict }
      if (attempt > 1) this.#recovered(response)
      return undefined
    } catch (error) {
      if (isControlFlow(error, signal)) throw error
      return { attempt, error }
    }
  }

  /** Waits for the next try. Returns false if the call ends with what there is. */
  async mayTryAgain(miss: Miss): Promise<boolean> {
    const { isShadow, report } = this.#settings
    const context = this.#context
    const reason = reasonOf(miss)
    const event = { level: 'chat', attempt: miss.attempt, reason } as const
    const plan = await this.#plan(miss)
    const isRetry = plan.because === undefined
    if (!isShadow) {
      const attempt = attemptOfMiss(context, miss, reason)
      context.run.recordAttempt(isRetry ? { ...attempt, delayMs: plan.delayMs } : attempt)
    }
    report(context.run, {
      ...event,
      ...(isRetry
        ? { status: 'retrying', delayMs: plan.delayMs }
        : { status: 'gave_up', because: plan.because }),
      ...(isShadow && { shadow: true }),
    })
    if (isShadow || !isRetry) return this.#end(miss, plan.because)
    this.#change(plan.change)
    if (miss.response !== undefined) context.options = reloadCache(context.options)
    await this.#planner.wait(plan.delayMs, context.signal)
    return true
  }

  async #judge(response: ChatResponse): Promise<true | RetryChange | undefined> {
    const { rejectReply } = this.#settings
    const attempt = this.#attempt
    if (rejectReply === undefined) return undefined
    const context = this.#context
    const verdict = (async () => rejectReply({ attempt, response, context }))()
    return (await unlessAborted(context.signal, verdict)) || undefined
  }

  async #plan(miss: Miss): Promise<RetryPlan> {
    const { isShadow, maxRetries, maxRetriesByKind, replay, stream, retryOn } = this.#settings
    const { attempt } = miss
    const context = this.#context
    // A rejected reply would have been held back outside of shadow mode.
    const isHeld = isShadow && miss.response !== undefined
    const isReleased = context.released && stream !== 'restart' && !isHeld
    const obstacle = (unsafe: boolean): GiveUpReason | undefined =>
      isReleased ? 'content_released' : unsafe && replay !== 'any' ? 'unsafe_replay' : undefined
    if (miss.response !== undefined) {
      const isUnsafe = replayOf(context.options) === 'unsafe'
      const { verdict: decision } = miss
      return this.#planner.plan({ attempt, maxRetries, decision, obstacle: obstacle(isUnsafe) })
    }
    const { error } = miss
    const known = isProviderError(error) ? error : undefined
    const asked = (async () => retryOn?.({ attempt, error, context }))()
    const decision = (await unlessAborted(context.signal, asked)) ?? known?.retry.retryable
    return this.#planner.plan({
      attempt,
      maxRetries: (known && maxRetriesByKind[known.kind]) ?? maxRetries,
      decision,
      obstacle: obstacle(known?.retry.replay === 'unsafe'),
      error,
    })
  }

  #change({ messages, instructions, options }: RetryChange): void {
    const context = this.#context
    if (messages !== undefined) context.messages = messages
    if (instructions !== undefined) context.instructions = instructions
    if (options !== undefined)
      context.options = ownOptions(mergeChatOptions(context.options, options))
  }

  #recovered({ model, usage }: ChatResponse): void {
    const { run } = this.#context
    const attempt = attemptOf(this.#context, { status: 'ok', usage })
    run.recordAttempt(model === undefined ? attempt : { ...attempt, model })
    this.#settings.report(run, { status: 'recovered', level: 'chat', attempt: this.#attempt })
  }

  /**
   * Returns false if there is a result to end with.
   * @throws the error of the last try
   */
  async #end(miss: Miss, because: GiveUpReason | undefined): Promise<false> {
    const { isShadow, onExhausted, name } = this.#settings
    const context = this.#context
    const { attempt, response } = miss
    if (!isShadow && because !== undefined && onExhausted !== 'throw') {
      const given = (async () => onExhausted({ ...miss, because, context }))()
      const result = await unlessAborted(context.signal, given)
      if (result !== undefined) {
        context.result = result
        return false
      }
    }
    if (response === undefined) throw miss.error
    if (isShadow) return false
    throw new ReplyRejectedError(name, reasonOf(miss), attempt)
  }
}

function reasonOf(miss: Miss): string {
  if (miss.response === undefined) return failureReason(miss.error)
  return (miss.verdict !== true && miss.verdict.reason) || 'rejected'
}

function attemptOfMiss(
  context: ChatContext,
  miss: Miss,
  reason: string,
): ReturnType<typeof attemptOf> {
  if (miss.response === undefined) return attemptOf(context, { error: miss.error })
  return attemptOf(context, { status: 'rejected', reason, usage: miss.response.usage })
}
