import type { ChatOptions, ChatRequest, ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { foldUpdates, ProviderError } from '@lamella/core'
import type { OpenAI } from 'openai'
import type { FailureContext } from './openai-error.ts'
import { toProviderError, toRequestError } from './openai-error.ts'
import type { Connection } from './openai-connection.ts'
import type { OpenAIProviderOptions } from './openai-provider-options.ts'
import { readProviderOptions } from './openai-provider-options.ts'
import type { AnswerMapper, MapperContext } from './answer-mapper.ts'
import { rateLimitUpdates } from './rate-limit-info.ts'
import { guardStream } from './stream-guard.ts'
import { record, stringOf } from './wire.ts'
import { readWhole } from './whole-response.ts'

/** What one API adds to a call. */
export interface OpenAICall {
  readonly connection: Connection
  readonly request: ChatRequest
  readonly model: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly replay: FailureContext['replay']
  /** Options that this API has no field for. */
  readonly unknownOptions: readonly (keyof ChatOptions)[]
  readonly metadataOf: MapperContext['metadataOf']
  readonly annotationsOf?: MapperContext['annotationsOf']
  readonly post: (
    client: OpenAI,
    body: Readonly<Record<string, unknown>>,
    options: OpenAI.RequestOptions,
  ) => Promise<Response>
  readonly mapper: (context: MapperContext) => AnswerMapper
}

/** A call whose answer comes in one piece. */
export async function callWhole(call: OpenAICall): Promise<ChatResponse> {
  const { connection, request } = call
  const failure = failureContext(call)
  const updates: ChatResponseUpdate[] = []
  const raw = await readWhole({
    open: async (signal) => {
      const response = await send(call, call.body, signal)
      updates.push(...rateLimitUpdates(response))
      return response
    },
    signal: request.signal,
    failure,
    bodyTimeoutMs: connection.idleTimeoutMs,
  })
  try {
    call.mapper(mapperContext(call)).whole(raw, updates)
  } catch (error) {
    throw toProviderError(error, { ...failure, partial: foldUpdates(updates) })
  }
  return { ...foldUpdates(updates), raw }
}

/** A call whose answer is streamed. Nothing is sent before the first pull. */
export function callStreamed(
  call: OpenAICall,
  streaming: Readonly<Record<string, unknown>>,
): AsyncIterable<ChatResponseUpdate> {
  const { connection, request } = call
  return guardStream({
    open: (signal) => send(call, { ...call.body, ...streaming }, signal),
    signal: request.signal,
    mapper: () => call.mapper(mapperContext(call)),
    failure: failureContext(call),
    timeouts: connection,
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

async function send(
  call: OpenAICall,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Response> {
  const { connection, request, post } = call
  const { transportRetries } = request.options
  const { extraHeaders } = readProviderOptions(request, connection.provider)
  try {
    return await post(connection.client, body, {
      signal,
      ...(transportRetries !== undefined && { maxRetries: transportRetries }),
      ...(extraHeaders !== undefined && { headers: extraHeaders }),
    })
  } catch (error) {
    throw toRequestError(error, failureContext(call))
  }
}

function mapperContext(call: OpenAICall): MapperContext {
  const { unknownOptions, connection, request, model, body, metadataOf, annotationsOf } = call
  const { conversationId } = request.options
  const ignored = unknownOptions.filter((name) => request.options[name] !== undefined)
  const audioFormat = stringOf(record(body['audio'])['format'])
  const { provider } = connection
  const own = { metadataOf, annotationsOf }
  return { provider, model, conversationId, ignored, audioFormat, ...own }
}

function failureContext({ connection, request, replay }: OpenAICall): FailureContext {
  const { client, provider } = connection
  return {
    provider,
    replay,
    confidential: {
      // A function that gives out keys is asked later.
      get key() {
        return client.apiKey ?? undefined
      },
      texts: () => textsOf(request),
    },
  }
}

/** What was said in the conversation. Bytes of files are no text that an error would quote. */
function textsOf({ messages, instructions = '' }: ChatRequest): readonly string[] {
  const texts = [instructions]
  const take = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && record(value)['type'] !== 'data') {
      Object.values(value).forEach(take)
    }
  }
  for (const { contents } of messages) take(contents)
  return texts
}
