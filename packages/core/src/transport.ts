export { toBase64 } from './base/json.ts'
export { longestTimerMs } from './base/timers.ts'
export { boundedFailure } from './transport/failures/bounded-failure.ts'
export { CallIds } from './transport/requests/call-ids.ts'
export { readEventStream } from './transport/http/event-stream.ts'
export type { EventMapper, EventStreamCall } from './transport/http/event-stream.ts'
export { checkChatOptions } from './transport/requests/chat-option-names.ts'
export { checkHeader, isHeaderValue, unfitForHeader } from './transport/failures/header-value.ts'
export type {
  ContentFate,
  ContentMaker,
  FileLoss,
  HistoryRules,
} from './transport/requests/history-rules.ts'
export type { Losses } from './transport/requests/losses.ts'
export {
  isNetworkError,
  isNetworkTimeout,
  networkCode,
} from './transport/failures/network-error.ts'
export { HttpClient } from './transport/http/http-client.ts'
export type { Fetch, HttpClientOptions } from './transport/http/http-client.ts'
export { mergeBody } from './transport/requests/merge-body.ts'
export { legalName } from './transport/requests/own-content.ts'
export { prepareHistory } from './transport/requests/prepare-history.ts'
export {
  continueConversation,
  markConversation,
  markMetadata,
} from './transport/requests/kept-conversation.ts'
export type {
  Continuation,
  ConversationMark,
  KeptConversation,
} from './transport/requests/kept-conversation.ts'
export type { PreparedHistory } from './transport/requests/prepare-history.ts'
export { failurePhrases, providerFailure } from './transport/failures/provider-failure.ts'
export type { FailureContext } from './transport/failures/provider-failure.ts'
export { ownProviderOptions } from './transport/requests/provider-options.ts'
export { conversationTexts, providerWords, safeName } from './transport/failures/provider-words.ts'
export type { Confidential } from './transport/failures/provider-words.ts'
export { headerUpdates, readRateLimits } from './transport/failures/rate-limit-window.ts'
export type { HeaderFacts, RateLimitHeaders } from './transport/failures/rate-limit-window.ts'
export { reportWords, tooLongWords } from './transport/failures/report-words.ts'
export {
  reportedFailure,
  statusVerdicts,
  transportError,
  verdictOfStatus,
} from './transport/failures/reported-failure.ts'
export type { FailureVerdict, ReportedFailure } from './transport/failures/reported-failure.ts'
export { nonNegative, retryAfterHeaderMs, untilDate } from './transport/failures/retry-after.ts'
export type { HeaderReader } from './transport/failures/retry-after.ts'
export type { ApiRequest, RequestSender } from './transport/http/request-sender.ts'
export { sdkFailure } from './transport/failures/sdk-failure.ts'
export type { SdkErrors } from './transport/failures/sdk-failure.ts'
export { SseReader } from './transport/http/sse-events.ts'
export type { SseEvent } from './transport/http/sse-events.ts'
export { StallTimer } from './transport/http/stall-timer.ts'
export type { StreamTimeouts } from './transport/http/stall-timer.ts'
export { checkTimeLimits } from './transport/http/time-limits.ts'
export type { KnownOfFailure, TransportCall } from './transport/http/transport-call.ts'
export {
  HttpFailure,
  InBandFailure,
  TransportFault,
  unreadable,
} from './transport/failures/transport-fault.ts'
export { readWhole } from './transport/http/whole-answer.ts'
export type { WholeAnswer, WholeCall } from './transport/http/whole-answer.ts'
export { defined, listOf, parseObject, recordOf, stringOf } from './base/wire.ts'
export type { WireObject } from './base/wire.ts'
