import { onAbort } from '../base/promises.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions, ResponseFormat } from '../contract/chat-options.ts'
import { mergeChatOptions } from '../contract/chat-options.ts'
import type { ChatClient, ChatContext } from '../contract/chat.ts'
import { isPause } from '../contract/control-flow.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import { isProviderError } from '../contract/provider-error.ts'
import type { ToolDefinition } from '../contract/run.ts'
import { isTermination } from '../contract/termination.ts'
import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import { toChatResponse, toUpdates } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import type { ResponseFold } from '../messages/response-fold.ts'
import type { Run } from '../run/run.ts'
import type { TransformPipeline } from '../stream/transform-pipeline.ts'
import type { Failure } from '../stream/update-sink.ts'
import { defineInputs } from './compose.ts'
import { ContentCall, ContentView } from './content-call.ts'

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

/** Runs one model call through its middlewares. The request that was sent is on the call. */
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
  readonly #callModel: CallModel
  #request: AbortController | undefined
  #letGo: (() => void) | undefined

  constructor(run: Run, input: ChatCallInput, callModel: CallModel) {
    super(run)
    this.input = input
    this.shown = input.shown ?? run.tools.offered
    this.#callModel = callModel
  }

  /** The client that the middlewares of this call belong to. */
  get client(): ChatClient {
    return this.input.client
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
  request(outer: AbortSignal | undefined, format: ResponseFormat | undefined): AbortSignal {
    ;(outer ?? this.run).throwIfAborted()
    const controller = (this.#request = new AbortController())
    this.run.progress.beginRequest(this, format)
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
    this.run.gather(undefined)
  }

  protected get takenIds(): readonly Message[] {
    return this.run.messages.all
  }

  protected updatesOf(result: ChatResponse): Iterable<AgentResponseUpdate> {
    return toUpdates(result)
  }

  refold(result: ChatResponse, fold: ResponseFold): ChatResponse {
    const { raw: _raw, value, ...kept } = result
    const response = fold.response(kept)
    return value !== undefined && response.text === result.text ? { ...response, value } : response
  }
}

export class ChatView extends ContentView<ChatResponse, ChatCall> implements ChatContext {
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
