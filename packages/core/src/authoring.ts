export { agentPipeline } from './agent/agent-pipeline.ts'
export { attemptOf, errorType, failedAttempt, failureReason } from './authoring/attempt.ts'
export { callWithin } from './authoring/call-within.ts'
export {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
  middlewareRules,
} from './authoring/define-middleware.ts'
export type { MiddlewareOptions } from './authoring/define-middleware.ts'
export { holdPreamble } from './authoring/hold-preamble.ts'
export { callInternally } from './authoring/internal-call.ts'
export type { InternalCallEvent } from './authoring/internal-call.ts'
export {
  eventFacts,
  middlewareEvents,
  observeMiddleware,
  reporter,
} from './authoring/report-event.ts'
export { checkOptions, checkTimeLimit, wrongOption } from './base/check-options.ts'
export type { OptionRules } from './base/check-options.ts'
export { createSecretId } from './base/create-id.ts'
export { isObject } from './base/is-object.ts'
export { canonicalJson, isJson, jsonCopy, toBase64 } from './base/json.ts'
export { isThenable, onAbort } from './base/promises.ts'
export { sha256 } from './base/sha256.ts'
export { toJsonSchema } from './base/standard-schema.ts'
export type { StandardIssue } from './base/standard-schema.ts'
export { backgroundTimer, callLater, longestTimerMs, systemClock } from './base/timers.ts'
export type { Clock } from './base/timers.ts'
export { formatIssues, validate } from './base/validate.ts'
export { takeTurn, unlessAborted, withinTime } from './base/waits.ts'
export type { ApprovalGate, ExecutionGate } from './contract/approval.ts'
export { checkChatOptions, declareChatOption } from './contract/chat-option-names.ts'
export { mergeChatOptions } from './contract/chat-options.ts'
export type { ContinuationReport } from './contract/chat.ts'
export { exitOf, isControlFlow } from './contract/control-flow.ts'
export type {
  BatchContext,
  InputGate,
  InterceptorMiddleware,
  IterationContext,
} from './contract/interceptors.ts'
export { retryableKinds, withoutPartial } from './contract/provider-error.ts'
export type { RateLimitInfo } from './contract/rate-limit-info.ts'
export type { RunPlan } from './contract/run-plan.ts'
export type { HostedTool } from './contract/run.ts'
export { functionPipeline } from './loop/function-pipeline.ts'
export { gateInput, interceptLoop } from './loop/intercept-loop.ts'
export type { ChatResponseInit } from './messages/chat-response.ts'
export { pieceOf, withPiece } from './messages/content-text.ts'
export type { Annotation, Origin } from './messages/content.ts'
export { toFunctionResult } from './messages/function-result.ts'
export { matchResults } from './messages/match-results.ts'
export { toMessages } from './messages/message.ts'
export { parseArguments } from './messages/parse-arguments.ts'
export { ResponseFold } from './messages/response-fold.ts'
export type { SessionReference } from './messages/session.ts'
export { usageSince } from './messages/usage.ts'
export { gateCalls } from './pausing/call-gates.ts'
export type { ChatClientOptions } from './pipeline/base-chat-client.ts'
export { chatPipeline } from './pipeline/chat-pipeline.ts'
export { isErrorOfTool } from './pipeline/function-call.ts'
export { restoreModelCall, restoreToolCall } from './pipeline/restore-call.ts'
export type { FinishedModelCall, FinishedToolCall } from './pipeline/restore-call.ts'
export { perRun } from './run/per-run.ts'
export { keyOf } from './store/key-of.ts'
export type { KeyOwner } from './store/key-of.ts'
export { keepClaims } from './store/session-stores.ts'
export { limitMath } from './store/store-limit-math.ts'
export type { LimitUsage } from './store/store-limit-math.ts'
export type { LimitClaim, LimitGrant, StoreLimits } from './store/store-limits.ts'
export type { ListItem, StoreLists } from './store/store-lists.ts'
export type { StoreSignals } from './store/store-signals.ts'
export { checkStore } from './store/store-needs.ts'
export type { StoreNeed } from './store/store-needs.ts'
export { withinStoreTime } from './store/store-time-limit.ts'
export type { TransformController } from './stream/update-transformer.ts'
