import type { ChatOptions, ChatRequest, ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type {
  AnswerMapper,
  ApiRequest,
  ArgumentAliases,
  EventMapper,
  FailureContext,
  TransportCall,
  WholeAnswer,
  WireObject,
} from '@lamella/transport'
import {
  conversationTexts,
  mergeBody,
  readEventStream,
  headerUpdates,
  readRateLimits,
  readWhole,
  recordOf,
  responseOf as answerResponse,
  stringOf,
  unwrapAnswer,
} from '@lamella/transport'
import type { OpenAIFailure } from '../errors/openai-error.ts'
import { requestIdIn, toProviderError } from '../errors/openai-error.ts'
import type { Connection } from './openai-connection.ts'
import type { OpenAIProviderOptions } from './openai-provider-options.ts'
import { readProviderOptions } from './openai-provider-options.ts'
import { rateLimitHeaders } from '../errors/retry-after.ts'
import type { MapperContext } from '../answers/answer-mapper.ts'

/** Parts of a call that differ by API. */
export interface OpenAICall {
  readonly connection: Connection
  readonly request: ChatRequest
  readonly model: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly own: OpenAIProviderOptions
  /** Parts of the history that the body leaves out or changes. */
  readonly losses: readonly string[]
  readonly replay: FailureContext['replay']
  /** Options that this API has no field for. */
  readonly unknownOptions: readonly (keyof ChatOptions)[]
  /** Names of properties that the request changes. */
  readonly aliases: ArgumentAliases
  readonly metadataOf: MapperContext['metadataOf']
  readonly annotationsOf?: MapperContext['annotationsOf']
  /** Path of the API, such as `/responses`. */
  readonly path: string
  readonly mapper: (context: MapperContext) => AnswerMapper
}

/** A call whose answer comes in one piece. */
export async function callWhole(call: OpenAICall): Promise<ChatResponse> {
  // Some servers stream unless they are told not to.
  return responseOf(call, await readAnswer(call, { body: { stream: false, ...call.body } }))
}

/** Sends a request of a call and reads the JSON that it is answered with. */
export function readAnswer(
  call: OpenAICall,
  request: CallRequest,
  toError: TransportCall['toError'] = transportOf(call).toError,
): Promise<WholeAnswer> {
  return readWhole({
    ...transportOf(call),
    toError,
    open: (signal) => send(call, request, signal),
    wanted: 'a response',
    isAnswer,
    bodyTimeoutMs: call.connection.idleTimeoutMs,
  })
}

/** Makes the response of an answer. */
export function responseOf(call: OpenAICall, answer: WholeAnswer): ChatResponse {
  return answerResponse(answer, {
    mapper: () => newMapper(call),
    headerUpdates: (headers) => factsOf(headers, call),
    toError: transportOf(call).toError,
  })
}

/** A call whose answer is streamed. Nothing is sent before the first pull. */
export function callStreamed(
  call: OpenAICall,
  streaming: Readonly<Record<string, unknown>>,
): AsyncIterable<ChatResponseUpdate> {
  // The application's own `stream_options` are laid over those of this package.
  const body = { ...mergeBody(streaming, call.body), stream: true }
  return readEvents(call, { body }, newMapper(call))
}

/** Sends a request of a call and reads the events that it is answered with. */
export function readEvents(
  call: OpenAICall,
  request: CallRequest,
  mapper: EventMapper,
  toError: TransportCall['toError'] = transportOf(call).toError,
): AsyncIterable<ChatResponseUpdate> {
  return readEventStream({
    ...transportOf(call),
    toError,
    open: (signal) => send(call, request, signal),
    mapper: () => mapper,
    errorIn,
    headerUpdates: (headers) => factsOf(headers, call),
    timeouts: call.connection,
  })
}

/** The model of a call and its provider options, both checked. */
export function callOptions(
  request: ChatRequest,
  { provider }: Connection,
  clientModel: string | undefined,
): { readonly model: string | undefined; readonly own: OpenAIProviderOptions } {
  const own = readProviderOptions(request, provider)
  const model = request.options.model ?? clientModel
  const { extraBody = {} } = own
  if (!model && extraBody['model'] === undefined && extraBody['prompt'] === undefined) {
    throw new ProviderError(`${provider}: no model; pass \`model\` to the client or the call`, {
      kind: 'invalid_request',
      provider,
    })
  }
  return { model, own }
}

/** Makes the mapper of a call's answer. */
export function newMapper(call: OpenAICall): AnswerMapper {
  return unwrapAnswer(call.request, call.mapper(mapperContext(call)))
}

/** Builds the part that plain and streamed calls share. */
export function transportOf(call: OpenAICall): Omit<TransportCall, 'open'> {
  const failure = failureContext(call)
  return {
    signal: call.request.signal,
    reportIn,
    toError: (cause, known) =>
      toProviderError(cause, { ...failure, ...known, requestId: requestIdIn(known.headers) }),
  }
}

/** The error that an event of a stream is. Old servers put its fields where those of a chunk stand. */
function errorIn(event: WireObject, name: string): unknown {
  if (event['error']) return event['error']
  if (name === 'error' || event['object'] === 'error') return event
  return isAnswer(event) || 'response' in event ? undefined : reportIn(event)
}

function isAnswer(body: WireObject): boolean {
  return 'choices' in body || 'output' in body
}

function reportIn(body: WireObject): unknown {
  const { error, code, message, detail } = body
  if (error) return error
  if (isAnswer(body) || !(code ?? message ?? detail)) return undefined
  return { code, message, detail }
}

function factsOf(headers: Headers, call: OpenAICall): readonly ChatResponseUpdate[] {
  return headerUpdates({
    rateLimit: readRateLimits(rateLimitHeaders, headers),
    requestId: requestIdIn(headers),
    headers: call.own.responseHeaders === true ? headers : undefined,
  })
}

/** A request of a call: its first one, unless it names another method or path. */
export interface CallRequest {
  readonly method?: ApiRequest['method']
  readonly path?: string
  readonly body?: WireObject
  readonly query?: Readonly<Record<string, string>>
}

function send(call: OpenAICall, request: CallRequest, signal: AbortSignal): Promise<Response> {
  const { connection, own } = call
  const { method = 'POST', path = call.path, body } = request
  const { extraHeaders: headers, extraQuery, timeoutMs } = own
  const { transportRetries: maxRetries } = call.request.options
  return connection.sender.send({
    method,
    path,
    body,
    signal,
    headers,
    query: request.query === undefined ? extraQuery : { ...extraQuery, ...request.query },
    timeoutMs,
    maxRetries,
  })
}

function mapperContext(call: OpenAICall): MapperContext {
  const { unknownOptions, connection, request, model, body, losses, aliases } = call
  const { metadataOf, annotationsOf } = call
  const conversationId = stringOf(body['conversation'])
  const ignored = unknownOptions.filter((name) => request.options[name] !== undefined)
  const audioFormat = stringOf(recordOf(body['audio'])['format'])
  const { provider } = connection
  const own = { metadataOf, annotationsOf }
  const toolNames = (request.options.tools ?? []).map(({ name }) => name)
  return {
    provider,
    model,
    conversationId,
    ignored,
    losses,
    toolNames,
    aliases,
    audioFormat,
    ...own,
  }
}

function failureContext({ connection, request, replay }: OpenAICall): OpenAIFailure {
  const { sender, provider, errorCodes } = connection
  return {
    provider,
    errorCodes,
    replay,
    confidential: { keys: () => sender.keys, texts: () => conversationTexts(request) },
  }
}
