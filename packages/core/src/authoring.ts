export { gateCalls } from './pausing/call-gates.ts'
export type {
  ApprovalGate,
  ApprovalNote,
  ApprovalQuestion,
  CallGate,
  ExecutionGate,
} from './contract/approval.ts'
export { callWithin } from './authoring/call-within.ts'
export type { CallLimit } from './authoring/call-within.ts'
export { canonicalJson, isJson } from './base/json.ts'
export { isObject } from './base/is-object.ts'
export { mergeChatOptions } from './contract/chat-options.ts'
export { declareChatOption } from './contract/chat-option-names.ts'
export { checkOptions, checkTimeLimit, wrongOption } from './base/check-options.ts'
export type { OptionRule, OptionRules } from './base/check-options.ts'
export { callLater, systemClock } from './base/timers.ts'
export type { Clock } from './base/timers.ts'
export { withinTime } from './base/waits.ts'
export type { WaitLimit } from './base/waits.ts'
export { isControlFlow } from './contract/control-flow.ts'
export { errorType } from './authoring/attempt.ts'
export { eventFacts } from './authoring/report-event.ts'
export { exitOf } from './contract/control-flow.ts'
export type { MiddlewareExit } from './contract/control-flow.ts'
export { attemptOf, failedAttempt, failureReason } from './authoring/attempt.ts'
export { holdPreamble } from './authoring/hold-preamble.ts'
export { callInternally } from './authoring/internal-call.ts'
export type { InternalCall, InternalCallEvent } from './authoring/internal-call.ts'
export { jsonCopy } from './base/json.ts'
export {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
  middlewareRules,
} from './authoring/define-middleware.ts'
export type { MiddlewareOptions } from './authoring/define-middleware.ts'
export { interceptLoop } from './loop/intercept-loop.ts'
export type { LoopInterceptor, InterceptorMiddleware } from './contract/interceptors.ts'
export { middlewareEvents, observeMiddleware } from './authoring/report-event.ts'
export type { RateLimitInfo, RateLimitWindowInfo } from './contract/rate-limit-info.ts'
export { retryableKinds } from './contract/provider-error.ts'
export { reporter } from './authoring/report-event.ts'
export { matchResults } from './messages/match-results.ts'
export type { ResultMatches } from './messages/match-results.ts'
export { ResponseFold } from './messages/response-fold.ts'
export { sha256 } from './base/sha256.ts'
export {
  addTake,
  emptyUsage,
  forgottenUntil,
  needsTakes,
  refreshUsage,
  remainingOf,
  restrictUsage,
  settleTake,
  usageEnds,
  waitFor,
} from './store/store-limit-math.ts'
export type { LimitTake, LimitUsage } from './store/store-limit-math.ts'
export { checkStore } from './store/store-needs.ts'
export type { RunPlan } from './contract/run-plan.ts'
export type { StoreNeed } from './store/store-needs.ts'
export { withinStoreTime } from './store/store-time-limit.ts'
export { unlessAborted } from './base/waits.ts'
export { usageSince } from './messages/usage.ts'
export { toBase64 } from './base/json.ts'
export { longestTimerMs } from './base/timers.ts'
export { checkChatOptions } from './contract/chat-option-names.ts'
export { isErrorOfTool } from './pipeline/function-call.ts'
export { parseArguments } from './messages/parse-arguments.ts'
export type { ParsedArguments } from './messages/parse-arguments.ts'
export { pieceOf, textField, withPiece } from './messages/content-text.ts'
export { perRun } from './run/per-run.ts'
export { takeTurn } from './base/waits.ts'
export type { Turns } from './base/waits.ts'
export { keepClaims } from './store/session-stores.ts'
export { backgroundTimer } from './base/timers.ts'
export { isThenable, onAbort } from './base/promises.ts'
export { withoutPartial } from './contract/provider-error.ts'
