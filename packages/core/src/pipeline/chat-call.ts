import { onAbort } from '../base/promises.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions, ResponseFormat } from '../contract/chat-options.ts'
import { mergeChatOptions, checkInstructions, resolveToolChoice } from '../contract/chat-options.ts'
import type { ChatClient, ChatContext, ChatRequest } from '../contract/chat.ts'
import type { RunEventInit } from '../contract/events.ts'
import { isPause } from '../contract/control-flow.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import { isProviderError } from '../contract/provider-error.ts'
import type { ToolDefinition } from '../contract/run.ts'
import { isTermination } from '../contract/termination.ts'
import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import { contentFields, toChatResponse } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import type { Run } from '../run/run.ts'
import type { TransformPipeline } from '../stream/transform-pipeline.ts'
import type { Failure } from '../stream/update-sink.ts'
import { defineInputs, superseded } from './compose.ts'
import { ContentCall, ContentView } from './content-call.ts'
import { none } from '../base/none.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import { dropCalls } from './drop-calls.ts'
import { ownIds, withOwnCalls } from './own-ids.ts'

/** Input of a model call. */
export interface ChatCallInput {
  readonly client: ChatClient
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  readonly options: ChatOptions
  /** Overrides the run's signal. */
  readonly signal?: AbortSignal | undefined
  /** Tools of the run that `options.tools` was made from. @default those at the start of the call */
  readonly shown?: readonly ToolDefinition[] | undefined
}

/** Runs one model call through its middleware. The request that was sent is on the call. */
export type CallModel = (call: ChatCall) => Promise<ChatResponse>

/** Tools and tool choice of a request. */
export interface RequestedTools {
  readonly toolChoice: ChatOptions['toolChoice']
  /** Tools of the run when the request was made. */
  readonly visible: readonly ToolDefinition[]
  /** Tools of the request. */
  readonly tools: readonly ToolDefinition[]
}

export class ChatCall extends ContentCall<ChatResponse> {
  /** Input of the outermost middleware. */
  readonly input: ChatCallInput
  /** Tools of the run when the call began. */
  readonly shown: readonly ToolDefinition[]
  /** Tools of the last request. Undefined until one was made. */
  requested: RequestedTools | undefined
  /** Response format of the last request. */
  requestedFormat: ResponseFormat | undefined
  readonly #callModel: CallModel
  #request: AbortController | undefined
  #letGo: (() => void) | undefined

  constructor(run: Run, input: ChatCallInput, callModel: CallModel) {
    super(run)
    this.input = input
    this.shown = input.shown ?? run.tools.offered
    this.#callModel = callModel
  }

  async repeat(
    options: ChatOptions | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ChatResponse> {
    const run = this.run.forRepeatedCall(signal)
    run.begin()
    try {
      const merged = mergeChatOptions(this.input.options, options)
      const input = { ...this.input, options: merged, signal: undefined }
      return await this.#callModel(new ChatCall(run, input, this.#callModel))
    } finally {
      run.release()
    }
  }

  protected get restartUpdate(): AgentResponseUpdate {
    return callRestart
  }

  protected get next(): TransformPipeline<AgentResponseUpdate> | undefined {
    return this.run.sink.outer
  }

  /**
   * Makes the signal for the provider. It aborts with `outer`, and when the response is no longer
   * needed: a middleware canceled the call, or a transform threw.
   */
  request(
    outer: AbortSignal | undefined,
    provider: string,
    format: ResponseFormat | undefined,
  ): AbortSignal {
    ;(outer ?? this.run).throwIfAborted()
    const controller = (this.#request = new AbortController())
    this.run.progress.beginRequest(this, provider, format)
    // A later abort of the run itself reaches the request through the call that fails of it.
    if (outer !== undefined) this.#letGo = onAbort(outer, (reason) => controller.abort(reason))
    return controller.signal
  }

  /** Ends the request, because it is done or no longer needed. */
  endRequest(failure?: Failure): void {
    this.#letGo?.()
    if (failure !== undefined) this.#request?.abort(failure.error)
    this.#request = this.#letGo = undefined
  }

  /** The request of `generation` failed: counts what it has cost all the same. */
  break(error: unknown, generation: number, fold?: ResponseFold): unknown {
    const { run } = this
    const told = (isProviderError(error) ? error.partial : undefined) ?? fold?.response()
    if (told !== undefined) run.addUsageOfPart(told)
    // A middleware may have canceled it already, and the current request may be another one.
    if (generation === this.generation) this.endRequest({ error })
    return error
  }

  /** Records the response of a completed request. */
  complete(): void {
    const { run } = this
    this.endRequest()
    run.journal.record({ kind: 'model', response: this.result! })
  }

  /** The result was made before, by `servedBy` if by a provider. */
  restore({ tools = none, toolChoice, responseFormat }: ChatOptions, servedBy?: string): void {
    const { run } = this
    this.requested = { visible: this.shown, tools, toolChoice }
    if (servedBy === undefined) return
    run.progress.beginRequest(this, servedBy, responseFormat)
    run.journal.record({ kind: 'model', response: this.result! })
  }

  override cancelInside(error: unknown): void {
    super.cancelInside(error)
    this.endRequest({ error })
  }

  /**
   * Tells the caller to discard the call's updates when the run ends on purpose. After a failure,
   * the caller keeps them.
   */
  retract(error: unknown): unknown {
    const isBlocked = LamellaError.is(error, 'guardrail_tripped')
    if (this.mustRestart && (isPause(error) || (isTermination(error) && !isBlocked))) {
      this.run.sink.push(this.restartUpdate)
    }
    return error
  }

  override settle(result: ChatResponse): void {
    super.settle(result)
    if (this.stream) this.run.gather(undefined)
  }

  protected get format(): ResponseFormat | undefined {
    return this.input.options.responseFormat ?? this.requestedFormat
  }

  protected get takenIds(): readonly Message[] {
    return this.run.known
  }

  /** Calls of one answer get ids of their own, too. Those of later answers may come again. */
  protected override withOwnIds(result: ChatResponse): ChatResponse {
    const own = super.withOwnIds(result)
    if (own.functionCalls.length === 0) return own
    const messages = withOwnCalls(own.messages, this.takenIds, this.run.ids)
    if (messages === own.messages) return own
    return { ...own, messages, functionCalls: contentFields(messages).functionCalls }
  }

  refold(result: ChatResponse, fold: ResponseFold): ChatResponse {
    const { raw: _raw, value, ...kept } = result
    const response = fold.response(kept)
    return value !== undefined && response.text === result.text ? { ...response, value } : response
  }
}

export class ChatView extends ContentView<ChatResponse, ChatCall> implements ChatContext {
  declare inputs: ChatCallInput
  declare client: ChatClient

  derive(): this {
    return new ChatView(this.call, this.depth + 1, this.inputs, this.ownSignal) as this
  }

  get iteration(): number {
    return this.call.run.iteration
  }

  get awaited(): boolean {
    return this.call.run.sink.busy
  }

  get result(): ChatResponse | undefined {
    return this.call.result
  }

  set result(value: ChatResponse | ChatResponseInit | string | undefined) {
    this.checkResult()
    this.call.result = value === undefined ? undefined : toChatResponse(value, this.call.run.ids)
  }

  repeat(options?: ChatOptions, signal?: AbortSignal): Promise<ChatResponse> {
    return this.call.repeat(options, signal)
  }
}

defineInputs(ChatView, 'client')

/** Tells a consumer to discard the updates of the current model call. */
export const callRestart: AgentResponseUpdate = Object.freeze({ contents: [], restart: true })

/** The innermost handler of a model call: reads the context, calls the provider, counts what it cost. */
export function callClient(context: ChatView): void | Promise<void> {
  const { call } = context
  const { run } = call
  const { client, options } = context.inputs
  const format = (call.requestedFormat = options.responseFormat)
  const model = run.journal.take('model')
  if (model !== undefined) {
    run.progress.beginRequest(call, client.provider, format)
    return call.applyTransforms(model.response, 0)
  }
  const request = requestOf(context)
  if (request.options.toolChoice === 'none') call.register(dropCalls(run), context.depth, '')
  return call.stream ? streamed(context, client, request) : whole(context, client, request)
}

function requestOf({ call, inputs, ownSignal }: ChatView): ChatRequest {
  const { run } = call
  const { client, messages, instructions, options } = inputs
  const { offered: visible } = run.tools
  const isSame = call.shown === visible || options.tools === undefined
  const current = isSame ? options : withoutRemoved(options, call.shown, visible)
  const { tools = none, toolChoice, responseFormat } = current
  call.requested = { visible: call.shown, tools, toolChoice }
  checkInstructions(instructions)
  const resolved = resolveToolChoice(current, run.journal.loop)
  const signal = call.request(ownSignal, client.provider, responseFormat)
  const emit = (event: RunEventInit): void => run.emit(event)
  return { messages, instructions, options: resolved, signal, emit }
}

/** Options without the tools that a middleware has removed from the run since they were made. */
function withoutRemoved(
  options: ChatOptions,
  shown: readonly ToolDefinition[],
  visible: readonly ToolDefinition[],
): ChatOptions {
  const tools = options.tools!.filter((tool) => visible.includes(tool) || !shown.includes(tool))
  return { ...options, tools: tools.length > 0 ? tools : undefined }
}

/** A middleware may have put another client in place. Its own middleware runs too. */
function isMiddlewareGuest(client: ChatClient, { input }: ChatCall): boolean {
  return client !== input.client && client.middleware.length > 0
}

async function whole(
  { call, ownSignal }: ChatView,
  client: ChatClient,
  request: ChatRequest,
): Promise<void> {
  const { run, generation } = call
  try {
    const asked = isMiddlewareGuest(client, call)
      ? client.getResponse([...request.messages], callOptions(request, run))
      : client.respond(request)
    const response = await run.unlessAborted(asked, ownSignal)
    run.addUsage(response.usage)
    if (generation === call.generation) {
      const waiting = call.applyTransforms(response, Infinity, ownSignal)
      if (waiting !== undefined) await waiting
    }
    if (generation !== call.generation) throw superseded()
  } catch (error) {
    throw call.break(error, generation)
  }
  call.complete()
}

async function streamed(
  { call }: ChatView,
  client: ChatClient,
  request: ChatRequest,
): Promise<void> {
  const { run, generation } = call
  const fold = new ResponseFold(run.ids)
  try {
    const source = isMiddlewareGuest(client, call)
      ? client.getResponse([...request.messages], { ...callOptions(request, run), stream: true })
      : client.stream(request)
    const transforms = call.open(
      Infinity,
      fold,
      ownIds(() => run.known, run.ids, run.agentName),
    )
    run.gather(fold)
    await run.sink.drive(source, transforms)
    if (transforms.next?.terminated === true) run.endUpdates()
    const response = fold.response()
    run.addUsage(response.usage)
    call.settle(response)
  } catch (error) {
    throw call.break(error, generation, fold)
  }
  call.complete()
}

function callOptions({ options, instructions, signal }: ChatRequest, parent: Run) {
  return { ...options, instructions, signal, parent }
}
