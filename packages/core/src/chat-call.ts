import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatClient, ChatRequest } from './chat-client.ts'
import type { ChatContext } from './chat-context.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatResponse, ChatResponseInit, ChatResponseUpdate } from './chat-response.ts'
import { chatResponse, toUpdates } from './chat-response.ts'
import type { LayerContext } from './compose.ts'
import { compose } from './compose.ts'
import { ContentCall } from './content-call.ts'
import { MiddlewareContractError } from './contract-error.ts'
import { dropCalls } from './drop-calls.ts'
import type { Message } from './message.ts'
import type { ChatMiddleware } from './middleware.ts'
import { isProviderError } from './provider-error.ts'
import { ResponseFold } from './response-fold.ts'
import type { Run } from './run.ts'
import { endsRun, isTermination } from './termination.ts'
import type { UpdatePassage } from './update-passage.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/** What the next model call is made with. */
export interface ChatCallInput {
  readonly client: ChatClient
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  readonly options: ChatOptions
}

/** Makes the function that runs one model call through its layers. */
export function chatPipeline(
  layers: readonly ChatMiddleware[],
): (run: Run, input: ChatCallInput) => Promise<ChatResponse> {
  const runLayers = compose<ChatView, ChatResponse>(layers, callClient)
  return async (run, input) => {
    const call = new ChatCall(run, input.client)
    try {
      return await runLayers(new ChatView(call, 0, input))
    } catch (error) {
      if (!isTermination(error) || endsRun(error)) throw error
      const result = error.result === undefined ? call.result : toChatResponse(error.result)
      if (result === undefined) throw error
      call.result = result
      await call.adopt(call.faultDepth(error))
      return call.result
    }
  }
}

class ChatCall extends ContentCall<ChatResponse> {
  /** The client that the layers of this call belong to. */
  readonly client: ChatClient
  protected readonly restartUpdate: AgentResponseUpdate = { contents: [], restart: true }

  constructor(run: Run, client: ChatClient) {
    super(run)
    this.client = client
  }

  protected get next(): UpdatePassage<AgentResponseUpdate> | undefined {
    return this.run.sink.outer
  }

  protected updatesOf(result: ChatResponse): Iterable<AgentResponseUpdate> {
    return toUpdates(result)
  }

  refold(result: ChatResponse, fold: ResponseFold): ChatResponse {
    const { raw: _raw, value: _value, ...kept } = result
    return fold.response(kept)
  }
}

class ChatView implements ChatContext, LayerContext<ChatResponse> {
  readonly call: ChatCall
  readonly depth: number
  inside: Promise<ChatResponse> | undefined = undefined
  client: ChatClient
  messages: readonly Message[]
  instructions: string | undefined
  options: ChatOptions

  constructor(call: ChatCall, depth: number, input: ChatCallInput) {
    this.call = call
    this.depth = depth
    this.client = input.client
    this.messages = input.messages
    this.instructions = input.instructions
    this.options = input.options
  }

  derive(): this {
    return new ChatView(this.call, this.depth + 1, this) as this
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }

  get signal(): AbortSignal {
    return this.call.run.signal
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

  get result(): ChatResponse | undefined {
    return this.call.result
  }

  set result(value: ChatResponse | ChatResponseInit | string | undefined) {
    this.call.result = value === undefined ? undefined : toChatResponse(value)
  }

  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void {
    registerTransformer(this, transformer)
  }
}

/** Registers a transformer for the layer that `view` belongs to. */
export function registerTransformer(
  view: LayerContext<unknown> & { readonly call: { register(transformer: UpdateTransformer<AgentResponseUpdate>, depth: number): void } },
  transformer: UpdateTransformer<ChatResponseUpdate>,
): void {
  if (view.inside !== undefined) {
    throw new MiddlewareContractError(`at depth ${view.depth}`, 'called transformUpdates() after callNext(); register before')
  }
  view.call.register(transformer as UpdateTransformer<AgentResponseUpdate>, view.depth)
}

/** Accepts what a layer may put in place as a response. */
export function toChatResponse(value: unknown): ChatResponse {
  if (typeof value === 'string') return chatResponse(value)
  if (typeof value === 'object' && value !== null && 'messages' in value) {
    const response = value as ChatResponse | ChatResponseInit
    return 'functionCalls' in response && 'usage' in response ? (response as ChatResponse) : chatResponse(response)
  }
  throw new TypeError(`context.result: expected a response or a string, got ${value === null ? 'null' : typeof value}`)
}

/** The innermost handler: reads the context, calls the provider, counts what it cost. */
async function callClient(context: ChatView): Promise<void> {
  const { call, client } = context
  const { run } = call
  const { model } = run.finished
  if (model !== undefined && model.iteration === run.iteration) {
    run.finished.model = undefined
    const waiting = call.deliver(model.response, 0)
    if (waiting !== undefined) await waiting
    return
  }
  const request: ChatRequest = {
    messages: context.messages,
    instructions: context.instructions,
    options: resolveToolChoice(context.options, run),
    signal: run.signal,
  }
  if (request.options.toolChoice === 'none') call.register(dropCalls(run.fallbackText), context.depth)
  // A layer may have put another client in place. Its own layers run too.
  const layered = client !== call.client && client.middleware.length > 0
  try {
    if (call.stream) {
      const fold = new ResponseFold()
      const source = layered ? client.getResponse([...request.messages], { ...callOptions(request), stream: true }) : client.stream(request)
      const passage = call.open(Infinity, fold)
      run.partial = fold
      await run.sink.drive(source, passage)
      run.partial = undefined
      const response = fold.response()
      run.addUsage(response.usage)
      call.settle(response)
    } else {
      const response = await run.unlessAborted(
        layered ? client.getResponse([...request.messages], callOptions(request)) : client.respond(request),
      )
      run.addUsage(response.usage)
      const waiting = call.deliver(response, Infinity)
      if (waiting !== undefined) await waiting
    }
  } catch (error) {
    const partial = isProviderError(error) ? error.partial : undefined
    const cost = partial?.usage ?? run.partial?.response().usage
    if (cost !== undefined) run.addUsage(cost)
    throw error
  }
  run.lastModel = { iteration: run.iteration, response: call.result! }
}

function callOptions({ options, instructions, signal }: ChatRequest) {
  return { ...options, instructions, signal }
}

function resolveToolChoice(options: ChatOptions, run: Run): ChatOptions {
  if (typeof options.toolChoice !== 'function') return options
  return { ...options, toolChoice: options.toolChoice(run.loopState) }
}
