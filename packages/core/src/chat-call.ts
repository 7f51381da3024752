import { callClient } from './call-client.ts'
import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatContext } from './chat-context.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatResponse, ChatResponseInit, ChatResponseUpdate } from './chat-response.ts'
import { mergeChatOptions } from './chat-options.ts'
import { toUpdates } from './chat-response.ts'
import { compose } from './compose.ts'
import { ContentCall } from './content-call.ts'
import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import type { LayerContext } from './layered-call.ts'
import type { Message } from './message.ts'
import type { ChatMiddleware } from './middleware.ts'
import { isProviderError } from './provider-error.ts'
import type { ResponseFold } from './response-fold.ts'
import { Run } from './run.ts'
import { endsRun, isTermination } from './termination.ts'
import { toChatResponse } from './to-chat-response.ts'
import { drain } from './update-drain.ts'
import type { UpdatePassage } from './update-passage.ts'
import type { Failure } from './update-sink.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/** What the next model call is made with. */
export interface ChatCallInput {
  readonly client: ChatClient
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  readonly options: ChatOptions
  /** Where it is another one than the run's. */
  readonly signal?: AbortSignal | undefined
}

export type ChatPipeline = (run: Run, input: ChatCallInput) => Promise<ChatResponse>

/** Makes the function that runs one model call through its layers. */
export function chatPipeline(layers: readonly ChatMiddleware[]): ChatPipeline {
  const runLayers = compose<ChatView, ChatResponse>(layers, callClient, takeTermination)
  const pipeline: ChatPipeline = (run, input) => {
    ;(input.signal ?? run).throwIfAborted()
    const call = new ChatCall(run, layers, input, pipeline)
    return runLayers(new ChatView(call, 0, input, input.signal))
  }
  return pipeline
}

/** A termination with a result ends this call with that; all else leaves it. */
async function takeTermination({ call }: ChatView, error: unknown): Promise<ChatResponse> {
  if (!isTermination(error) || endsRun(error)) throw call.withdraw(error)
  const result = error.result === undefined ? call.result : toChatResponse(error.result)
  if (result === undefined) throw call.withdraw(error)
  call.result = result
  await call.adopt(call.faultDepth(error))
  return call.result
}

class ChatCall extends ContentCall<ChatResponse> {
  /** What the outermost layer was given. */
  readonly #input: ChatCallInput
  readonly #pipeline: ChatPipeline
  #request: AbortController | undefined
  #letGo: (() => void) | undefined

  constructor(
    run: Run,
    layers: readonly ChatMiddleware[],
    input: ChatCallInput,
    pipeline: ChatPipeline,
  ) {
    super(run, layers)
    this.#input = input
    this.#pipeline = pipeline
  }

  /** The client that the layers of this call belong to. */
  get client(): ChatClient {
    return this.#input.client
  }

  async repeat(
    options: ChatOptions | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ChatResponse> {
    const { agentName, session, data, tenant, iteration, loopState } = this.run
    const run = new Run({ sink: drain, agentName, session, data, tenant, signal })
    Object.assign(run, { iteration, loopState })
    run.begin()
    try {
      const merged = mergeChatOptions(this.#input.options, options)
      return await this.#pipeline(run, { ...this.#input, options: merged, signal: undefined })
    } finally {
      run.release()
    }
  }

  protected get restartUpdate(): AgentResponseUpdate {
    return callRestart
  }

  protected get next(): UpdatePassage<AgentResponseUpdate> | undefined {
    return this.run.sink.outer
  }

  /**
   * A signal for the provider. It aborts with `outer`, and whenever nobody waits for the answer any
   * more: a layer gave up on it, or a transform threw.
   */
  request(outer: AbortSignal | undefined): AbortSignal {
    const controller = (this.#request = new AbortController())
    const follow = (): void => controller.abort((outer ?? this.run.signal).reason)
    // A later abort of the run itself reaches the request through the call that fails of it.
    if ((outer ?? this.run).aborted) follow()
    else if (outer !== undefined) {
      outer.addEventListener('abort', follow)
      this.#letGo = () => outer.removeEventListener('abort', follow)
    }
    return controller.signal
  }

  /** The request is over, or nobody waits for it any more. */
  endRequest(failure?: Failure): void {
    this.#letGo?.()
    if (failure !== undefined) this.#request?.abort(failure.error)
    this.#request = this.#letGo = undefined
  }

  /** The request of `turn` failed: counts what it has cost all the same. */
  break(error: unknown, turn: number, fold?: ResponseFold): unknown {
    const { run } = this
    const told = (isProviderError(error) ? error.partial : undefined) ?? fold?.response()
    if (told !== undefined) {
      run.addUsage(told.usage)
      if (told.messages.length > 0 && told.usage.totalTokens === undefined)
        run.usageEstimated = true
    }
    // If a layer has given up on it, that was its end, and the request at hand may be another one.
    if (turn === this.turn) this.endRequest({ error })
    return error
  }

  /** The request has come to its answer. */
  complete(): void {
    const { run } = this
    this.endRequest()
    run.lastModel = { iteration: run.iteration, response: this.result! }
  }

  override abandon(error: unknown): void {
    super.abandon(error)
    this.endRequest({ error })
  }

  /** The run ends without what this call has shown, unless it fails: then the caller keeps what came. */
  withdraw(error: unknown): unknown {
    const isBlocked = LamellaError.is(error, 'guardrail_tripped')
    if (this.mustRestart && (isPause(error) || (isTermination(error) && !isBlocked))) {
      this.run.sink.push(this.restartUpdate)
    }
    return error
  }

  override settle(result: ChatResponse): void {
    super.settle(result)
    const { run } = this
    if (run.sink.outer === undefined) run.partial = undefined
  }

  protected updatesOf(result: ChatResponse): Iterable<AgentResponseUpdate> {
    return toUpdates(result)
  }

  refold(result: ChatResponse, fold: ResponseFold): ChatResponse {
    const { raw: _raw, value: _value, ...kept } = result
    return fold.response(kept)
  }
}

export class ChatView implements ChatContext, LayerContext<ChatResponse> {
  readonly call: ChatCall
  readonly depth: number
  inside: Promise<ChatResponse> | undefined = undefined
  client: ChatClient
  messages: readonly Message[]
  instructions: string | undefined
  options: ChatOptions
  /** What a layer has put in the place of the run's. */
  ownSignal: AbortSignal | undefined

  constructor(
    call: ChatCall,
    depth: number,
    input: ChatCallInput,
    ownSignal: AbortSignal | undefined,
  ) {
    this.call = call
    this.depth = depth
    this.client = input.client
    this.messages = input.messages
    this.instructions = input.instructions
    this.options = input.options
    this.ownSignal = ownSignal
  }

  derive(): this {
    return new ChatView(this.call, this.depth + 1, this, this.ownSignal) as this
  }

  get signal(): AbortSignal {
    return this.ownSignal ?? this.call.run.signal
  }

  set signal(signal: AbortSignal) {
    this.ownSignal = signal
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }

  get stream(): boolean {
    return this.call.stream
  }

  get iteration(): number {
    return this.call.run.iteration
  }

  get released(): boolean {
    return this.call.released
  }

  get awaited(): boolean {
    return this.call.run.sink.busy
  }

  get result(): ChatResponse | undefined {
    return this.call.result
  }

  set result(value: ChatResponse | ChatResponseInit | string | undefined) {
    this.call.result = value === undefined ? undefined : toChatResponse(value)
  }

  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void {
    this.call.register(transformer, this.depth)
  }

  repeat(options?: ChatOptions, signal?: AbortSignal): Promise<ChatResponse> {
    return this.call.repeat(options, signal)
  }
}

const callRestart: AgentResponseUpdate = Object.freeze({ contents: [], restart: true })
