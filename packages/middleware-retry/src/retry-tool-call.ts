import type { FunctionInvocationContext, FunctionMiddleware } from '@lamella/core'
import { isProviderError, isToolError, LamellaError } from '@lamella/core'
import { failureReason, isControlFlow, unlessAborted } from '@lamella/core/authoring'
import type { RetryDecision, ToolRetryFailure } from './retry-decision.ts'
import { isOwned, ownToolCall } from './call-options.ts'
import type { RetrySettings } from './retry-plan.ts'
import { RetryPlanner } from './retry-plan.ts'

/** Options of `retry` for tool calls. */
export interface ToolRetryOptions {
  /**
   * Chooses the tool calls that may be repeated.
   * @default those of tools that are `idempotent` or `readOnly`
   */
  readonly when?: ((context: FunctionInvocationContext) => boolean | Promise<boolean>) | undefined
  /**
   * Retries of a tool call, after the first try.
   * @default that of model calls
   */
  readonly maxRetries?: number | undefined
  /**
   * Judges a failure; `undefined` leaves it to the default. Of a returned change only `delayMs` counts.
   * @default retries what the tool throws and its timeouts, but no rejected call
   */
  readonly retryOn?:
    | ((failure: ToolRetryFailure) => RetryDecision | Promise<RetryDecision>)
    | undefined
  /**
   * Makes a key that stays the same for all tries of a call, so that a tool that is not idempotent by
   * itself can be repeated. The tool finds it in `context.metadata.idempotencyKey`.
   * @default none
   */
  readonly idempotencyKey?: ((context: FunctionInvocationContext) => string | undefined) | undefined
}

/** Checked settings for tool calls, with their defaults. */
export interface ToolRetrySettings extends RetrySettings {
  readonly tools: ToolRetryOptions
  readonly maxRetries: number
}

/** Makes the `process` function of the function middleware. */
export function retryToolCall(settings: ToolRetrySettings): FunctionMiddleware['process'] {
  const { tools, maxRetries, isShadow, report } = settings
  return async (context, callNext) => {
    const { run, metadata } = context
    const tool = context.function.name
    const key = tools.idempotencyKey?.(context)
    const isSafe = context.function.idempotent || context.function.readOnly || key !== undefined
    if (!isSafe) return callNext()
    if (tools.when !== undefined) {
      const isWanted = Promise.resolve(tools.when(context))
      if (!(await unlessAborted(context.signal, isWanted))) return callNext()
    }
    if (isOwned(metadata)) {
      report(run, { status: 'not_owner', level: 'function', attempt: 1, tool })
      return callNext()
    }
    if (!isShadow) ownToolCall(context)
    if (key !== undefined) metadata['idempotencyKey'] = key
    const planner = new RetryPlanner(settings, run)
    for (let attempt = 1; ; attempt++) {
      try {
        await callNext()
        if (attempt > 1) report(run, { status: 'recovered', level: 'function', attempt, tool })
        return undefined
      } catch (error) {
        if (isControlFlow(error, context.signal)) throw error
        const asked = (async () => tools.retryOn?.({ attempt, error, context }))()
        const decision = (await unlessAborted(context.signal, asked)) ?? isWorthIt(error)
        const plan = await planner.plan({ attempt, maxRetries, decision, error })
        report(run, {
          level: 'function',
          attempt,
          tool,
          reason: isToolError(error) ? error.reason : failureReason(error),
          ...(plan.because === undefined
            ? { status: 'retrying', delayMs: plan.delayMs }
            : { status: 'gave_up', because: plan.because }),
          ...(isShadow && { shadow: true }),
        })
        if (isShadow || plan.because !== undefined) throw error
        await planner.wait(plan.delayMs, context.signal)
      }
    }
  }
}

/** Retries no rejected call and no wrong arguments: they fail again. */
function isWorthIt(error: unknown): boolean {
  if (isToolError(error)) return error.reason === 'tool_failed' || error.reason === 'timeout'
  if (isProviderError(error)) return error.retry.retryable && error.retry.replay === 'safe'
  return !LamellaError.is(error)
}
