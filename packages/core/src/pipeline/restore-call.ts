import { none } from '../base/none.ts'
import type { ChatContext } from '../contract/chat.ts'
import type { Attempt } from '../contract/outcome.ts'
import type { FunctionInvocationContext } from '../contract/run.ts'
import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { Usage } from '../messages/usage.ts'
import { engineOf } from '../run/run.ts'
import type { ChatView } from './chat-call.ts'
import type { FunctionView } from './function-call.ts'

/**
 * Puts a finished model call in place of `callNext()`. It counts as a call: its usage, attempts and provider are
 * those of the run, as if it had been made here. A middleware that answers by itself assigns `context.result`
 * instead.
 */
export function restoreModelCall(
  context: ChatContext,
  response: ChatResponse | ChatResponseInit,
  {
    servedBy,
    usage,
    attempts = none,
  }: {
    /** Provider that answered, `run.servedBy` after the call. Undefined if a middleware answered. */
    readonly servedBy?: string | undefined
    /** Tokens that the call has added to `run.usage`. @default {} */
    readonly usage?: Usage | undefined
    /** Attempts that the call has recorded. @default [] */
    readonly attempts?: readonly Omit<Attempt, 'iteration'>[] | undefined
  } = {},
): void {
  engineOf(context.run)
  context.result = response
  ;(context as ChatView).call.restore(context.options, servedBy)
  for (const attempt of attempts) context.run.recordAttempt(attempt)
  if (usage !== undefined) context.run.addUsage(usage)
}

/**
 * Puts a finished tool call in place of `callNext()`. It counts as a call: the run keeps its effect, and an error
 * of the tool becomes the result that the model reads.
 * @throws the error of the tool
 */
export function restoreToolCall(
  context: FunctionInvocationContext,
  {
    result,
    error,
  }:
    | { readonly result: FunctionResult; readonly error?: never }
    | { readonly result?: never; readonly error: Error },
): void {
  engineOf(context.run)
  const { call } = context as FunctionView
  if (error === undefined) return call.restore(result)
  call.toolFault = { error }
  call.begin()
  throw error
}
