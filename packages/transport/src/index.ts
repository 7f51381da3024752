export { boundedFailure } from './failures/bounded-failure.ts'
export { ArrivingCalls } from './calls/arriving-calls.ts'
export type { CallPiece } from './calls/arriving-calls.ts'
export { adaptSchema, UnfitSchema } from './schemas/adapt-schema.ts'
export type { AdaptedSchema, SchemaRules } from './schemas/adapt-schema.ts'
export { answerSchema } from './schemas/answer-schema.ts'
export type { AnswerSchema } from './schemas/answer-schema.ts'
export { unwrapAnswer } from './http/unwrap-answer.ts'
export type { AnswerMapper } from './http/unwrap-answer.ts'
export { fitSchema, fitTools, reportTools } from './schemas/fit-tools.ts'
export type { ArgumentAliases, OmittedTool } from './schemas/fit-tools.ts'
export { joinedProperties, schemaPart } from './schemas/schema-parts.ts'
export { CallIds } from './requests/call-ids.ts'
export { readEventStream } from './http/event-stream.ts'
export type { EventMapper, EventStreamCall } from './http/event-stream.ts'
export { checkHeader, isHeaderValue, unfitForHeader } from './failures/header-value.ts'
export type { ContentFate, ContentMaker, FileLoss, HistoryRules } from './requests/history-rules.ts'
export type { Losses } from './requests/losses.ts'
export { isNetworkError, isNetworkTimeout, networkCode } from './failures/network-error.ts'
export { checkAddress } from './http/check-address.ts'
export { checkNoClash } from './http/check-no-clash.ts'
export { environmentVariable } from './http/environment-variable.ts'
export { HttpClient } from './http/http-client.ts'
export type { Fetch, HttpClientOptions } from './http/http-client.ts'
export {
  continueConversation,
  markConversation,
  markMetadata,
} from './requests/kept-conversation.ts'
export type {
  Continuation,
  ConversationMark,
  KeptConversation,
} from './requests/kept-conversation.ts'
export { locatedFile } from './requests/located-file.ts'
export type { LocatedFile } from './requests/located-file.ts'
export { mergeBody } from './requests/merge-body.ts'
export { legalName } from './requests/own-content.ts'
export { prepareHistory } from './requests/prepare-history.ts'
export type { PreparedHistory } from './requests/prepare-history.ts'
export { failurePhrases, providerFailure } from './failures/provider-failure.ts'
export type { FailureContext } from './failures/provider-failure.ts'
export { ownProviderOptions } from './requests/provider-options.ts'
export type { ProviderOptionTypes, SharedProviderOptions } from './requests/provider-options.ts'
export { conversationTexts, providerWords, safeName } from './failures/provider-words.ts'
export type { Confidential } from './failures/provider-words.ts'
export { headerUpdates, readRateLimits } from './failures/rate-limit-window.ts'
export type { HeaderFacts, RateLimitHeaders } from './failures/rate-limit-window.ts'
export { reportWords, tooLongWords } from './failures/report-words.ts'
export {
  reportedFailure,
  statusVerdicts,
  transportError,
  verdictOfStatus,
} from './failures/reported-failure.ts'
export type { FailureVerdict, ReportedFailure } from './failures/reported-failure.ts'
export { nonNegative, retryAfterHeaderMs, untilDate } from './failures/retry-after.ts'
export type { HeaderReader } from './failures/retry-after.ts'
export type { ApiRequest, RequestSender } from './http/request-sender.ts'
export { sdkFailure } from './failures/sdk-failure.ts'
export type { SdkErrors } from './failures/sdk-failure.ts'
export { SseReader } from './http/sse-events.ts'
export type { SseEvent } from './http/sse-events.ts'
export { StallTimer } from './http/stall-timer.ts'
export type { StreamTimeouts } from './http/stall-timer.ts'
export type { KnownOfFailure, TransportCall } from './http/transport-call.ts'
export {
  HttpFailure,
  InBandFailure,
  TransportFault,
  unreadable,
} from './failures/transport-fault.ts'
export { readWhole, responseOf } from './http/whole-answer.ts'
export type { WholeAnswer, WholeCall } from './http/whole-answer.ts'
export { defined, listOf, parseObject, recordOf, stringOf, unlessEmpty } from './wire/wire.ts'
export type { WireObject } from './wire/wire.ts'
