import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import type { ContinuationReport } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import { checkOptions, ResponseFold } from '@lamella/core/authoring'
import type { OpenAICall } from '../connection/openai-call.ts'
import { callOptions, callStreamed, callWhole } from '../connection/openai-call.ts'
import type { Connection, OpenAIClientOptions } from '../connection/openai-connection.ts'
import { connect } from '../connection/openai-connection.ts'
import { clientRules } from '../connection/client-options.ts'
import { readProviderOptions } from '../connection/openai-provider-options.ts'
import type { KeptConversation, PreparedHistory } from '@lamella/transport'
import {
  continueConversation,
  listOf,
  markConversation,
  markMetadata,
  prepareHistory,
  reportTools,
  recordOf,
} from '@lamella/transport'
import { refusesSampling } from '../requests/refuses-sampling.ts'
import { responsesDialect } from '../requests/tool-params.ts'
import { historyRules } from '../history/history-rules.ts'
import {
  callInBackground,
  cancelResponse,
  followInBackground,
} from '../responses/background-responses.ts'
import {
  conversationField,
  responsesBody,
  responsesHistory,
  responsesReplay,
} from '../responses/responses-request.ts'
import { ResponsesUpdates } from '../responses/responses-updates.ts'

/**
 * OpenAI's models through the Responses API.
 *
 * @example
 * ```ts
 * import { OpenAIChatClient } from '@lamella/openai/fetch'
 *
 * const client = new OpenAIChatClient({ apiKey: 'my-key', model: 'gpt-5-mini' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class OpenAIChatClient extends BaseChatClient {
  readonly provider: string
  readonly #connection: Connection
  /** Of the body that was made last, until the call that it is for takes them. */
  #losses: readonly string[] = []

  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIClientOptions = {}) {
    checkOptions('OpenAIChatClient', options, clientRules)
    super(options)
    this.#connection = connect('OpenAIChatClient', options)
    this.provider = this.#connection.provider
  }

  /** The API and the server. */
  get fingerprint(): string {
    return `responses ${this.#connection.server}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const call = this.#call(request)
    if (!keepsConversation(call)) return callPlain(call)
    const kept = this.#kept(call)
    const response = await callPlain(await continued(call, kept))
    const { messages } = response
    const mark = await this.#mark(call, kept, response)
    if (mark === undefined) return response
    const last = messages.at(-1)!
    const metadata = { ...last.metadata, ...mark }
    return { ...response, messages: [...messages.slice(0, -1), { ...last, metadata }] }
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    const call = this.#call(request)
    return keepsConversation(call) ? this.#streamKept(call) : follow(call)
  }

  async *#streamKept(call: OpenAICall): AsyncGenerator<ChatResponseUpdate> {
    const kept = this.#kept(call)
    const fold = new ResponseFold()
    for await (const update of follow(await continued(call, kept))) {
      fold.add(update)
      yield update
    }
    const response = fold.response()
    const metadata = await this.#mark(call, kept, response)
    if (metadata !== undefined)
      yield { contents: [], messageId: response.messages.at(-1)!.id, metadata }
  }

  #kept({ own: { conversation }, body }: OpenAICall): KeptConversation<unknown> {
    const { provider, fingerprint: server } = this
    return { provider, server, conversation, items: listOf(body['input']) }
  }

  /** Marks a complete answer, so that the next call can send what follows it. */
  async #mark(
    { request }: OpenAICall,
    kept: KeptConversation<unknown>,
    { id, messages, finishReason }: ChatResponse,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const isWhole = finishReason === 'stop' || finishReason === 'tool-calls'
    if (!isWhole || id === undefined || messages.length === 0) return undefined
    const body = this.requestBody({ ...request, messages: [...request.messages, ...messages] })
    const items = [...listOf(body['input'])]
    // A call without a result is sent with a note, which is no part of the answer.
    while (isOutput(items.at(-1))) items.pop()
    const mark = await markConversation({ ...kept, items }, kept.items, id)
    return mark && markMetadata(mark)
  }

  /** Cancels a background response. A complete one stays unchanged. */
  async cancel(
    responseId: string,
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    await cancelResponse(this.#connection, responseId, signal)
  }

  /** Makes any history valid for the Responses API. Every call does this itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#prepare(messages).messages
  }

  /** Lists the parts of a history that a request would omit or change. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = this.#prepare(messages)
    return { ok: losses.length === 0, losses }
  }

  /** Returns the body of a request. A subclass may add fields of its server. */
  protected requestBody(request: ChatRequest): Record<string, unknown> {
    const { model, own } = callOptions(request, this.#connection, this.model)
    const { body, losses } = responsesBody(request, own, { provider: this.provider, model })
    this.#losses = losses
    return body
  }

  /** Reads additional metadata of a subclass from a response. */
  protected metadataOf?(
    payload: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>> | undefined

  #prepare(messages: readonly Message[]): PreparedHistory {
    const { provider, model } = this
    return prepareHistory(messages, historyRules(responsesHistory, { provider, model }))
  }

  #call(request: ChatRequest): OpenAICall {
    const body = this.requestBody(request)
    return {
      connection: this.#connection,
      request,
      model: request.options.model ?? this.model,
      body,
      losses: this.#losses,
      own: readProviderOptions(request, this.provider),
      replay: responsesReplay(body),
      unknownOptions: [
        'stop',
        'seed',
        ...(refusesSampling(request.options.model ?? this.model, request.options)
          ? (['temperature', 'topP'] as const)
          : []),
      ],
      aliases: reportTools(request, this.provider, responsesDialect.schemas),
      metadataOf: this.metadataOf?.bind(this),
      path: '/responses',
      mapper: (context) => new ResponsesUpdates(context),
    }
  }
}

function callPlain(call: OpenAICall): Promise<ChatResponse> {
  return call.own.background ? callInBackground(call) : callWhole(call)
}

function follow(call: OpenAICall): AsyncIterable<ChatResponseUpdate> {
  return call.own.background ? followInBackground(call) : callStreamed(call, {})
}

/** Tells if OpenAI keeps the answer of a call for the next one. The application's own fields are left alone. */
function keepsConversation({ own }: OpenAICall): boolean {
  const { conversation, store = conversation !== undefined, background, extraBody = {} } = own
  const isOwn = ['input', 'store', 'previous_response_id', 'conversation'].some(
    (name) => name in extraBody,
  )
  // A response that was submitted before was asked something else.
  const isOld = typeof background === 'object' && background.responseId !== undefined
  return store && !isOwn && !isOld
}

/** The same call without what OpenAI has. */
async function continued(call: OpenAICall, kept: KeptConversation<unknown>): Promise<OpenAICall> {
  const { request, own } = call
  const { from, items, isChanged } = await continueConversation(request.messages, kept)
  const { conversation: _, previous_response_id: _id, ...rest } = call.body
  const named = own.conversation?.startsWith('conv_') === true
  // What a conversation has cannot be taken back: a changed one continues outside of it.
  const id =
    named && isChanged
      ? undefined
      : named
        ? own.conversation
        : (from?.responseId ?? own.conversation)
  const input = items.length > 0 ? items : nothing
  return { ...call, body: { ...rest, ...conversationField(id), input } }
}

function isOutput(item: unknown): boolean {
  const type = recordOf(item)['type']
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

const nothing = [{ role: 'user', content: '' }]
