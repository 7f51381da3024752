export { longestTimerMs } from './base/timers.ts'
export { boundedFailure } from './transport/bounded-failure.ts'
export { CallIds } from './transport/call-ids.ts'
export { readEventStream } from './transport/event-stream.ts'
export type { EventMapper, EventStreamCall } from './transport/event-stream.ts'
export { checkHeader, isHeaderValue, unfitForHeader } from './transport/header-value.ts'
export type {
  ContentFate,
  ContentMaker,
  FileLoss,
  HistoryRules,
} from './transport/history-rules.ts'
export type { Losses } from './transport/losses.ts'
export {
  isNetworkError,
  isNetworkTimeout,
  networkCode,
} from './transport/network-error.ts'
export { HttpClient } from './transport/http-client.ts'
export type { Fetch, HttpClientOptions } from './transport/http-client.ts'
export { mergeBody } from './transport/merge-body.ts'
export { legalName } from './transport/own-content.ts'
export { prepareHistory } from './transport/prepare-history.ts'
export type { PreparedHistory } from './transport/prepare-history.ts'
export { failurePhrases, providerFailure } from './transport/provider-failure.ts'
export type { FailureContext } from './transport/provider-failure.ts'
export { ownProviderOptions } from './transport/provider-options.ts'
export { conversationTexts, providerWords, safeName } from './transport/provider-words.ts'
export type { Confidential } from './transport/provider-words.ts'
export { headerUpdates, readRateLimits } from './transport/rate-limit-window.ts'
export type { HeaderFacts, RateLimitHeaders } from './transport/rate-limit-window.ts'
export { reportWords, tooLongWords } from './transport/report-words.ts'
export {
  reportedFailure,
  statusVerdicts,
  transportError,
  verdictOfStatus,
} from './transport/reported-failure.ts'
export type { FailureVerdict, ReportedFailure } from './transport/reported-failure.ts'
export { nonNegative, retryAfterHeaderMs, untilDate } from './transport/retry-after.ts'
export type { HeaderReader } from './transport/retry-after.ts'
export type { ApiRequest, RequestSender } from './transport/request-sender.ts'
export { sdkFailure } from './transport/sdk-failure.ts'
export type { SdkErrors } from './transport/sdk-failure.ts'
export { SseReader } from './transport/sse-events.ts'
export type { SseEvent } from './transport/sse-events.ts'
export { StallTimer } from './transport/stall-timer.ts'
export type { StreamTimeouts } from './transport/stall-timer.ts'
export { checkTimeLimits } from './transport/time-limits.ts'
export type { KnownOfFailure, TransportCall } from './transport/transport-call.ts'
export {
  HttpFailure,
  InBandFailure,
  TransportFault,
  unreadable,
} from './transport/transport-fault.ts'
export { readWhole } from './transport/whole-answer.ts'
export type { WholeAnswer, WholeCall } from './transport/whole-answer.ts'
export { listOf, parseObject, recordOf, stringOf } from './transport/wire.ts'
export type { WireObject } from './transport/wire.ts'
