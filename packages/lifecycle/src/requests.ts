import type {
  ChatOptions,
  ChatContext,
  FunctionInvocationContext,
  RunContext,
  Tool,
  ChatResponseUpdate,
  Message,
  UpdateTransformer,
} from '@lamella/core'

/** One model call as an immutable value. */
export interface ModelRequest {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext
  /** Iteration of the run; 0 for the first. */
  readonly iteration: number
  /** Model that is called. Undefined if unknown. */
  readonly model: string | undefined
  /** Conversation that is sent, oldest first. */
  readonly messages: readonly Message[]
  /** System instructions. Undefined without any. */
  readonly instructions: string | undefined
  /** Model options of the call. */
  readonly options: ChatOptions
  /** Aborted when the run ends early. */
  readonly signal: AbortSignal
  /** Registers a transformer for the updates of the call. Call it before `handler`. */
  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void
  /** Returns a copy of the request with some fields changed. */
  override(
    changes: Partial<Pick<ModelRequest, 'model' | 'messages' | 'instructions' | 'options'>>,
  ): ModelRequest
}

/** One tool call as an immutable value. */
export interface FunctionRequest {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext
  /** The tool that is called. */
  readonly function: Tool
  /** Id of the call, as the model gave it. */
  readonly callId: string
  /** Validated arguments. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Aborted when the run ends early. */
  readonly signal: AbortSignal
  /**
   * Returns a copy of the request with some fields changed. Arguments are validated again before
   * the tool runs.
   */
  override(changes: Partial<Pick<FunctionRequest, 'arguments'>>): FunctionRequest
}

/** Makes a request from the current state of a model call. */
export function modelRequest(context: ChatContext): ModelRequest {
  const { run, iteration, client, messages, instructions, options, signal } = context
  const make = (given: Pick<ModelRequest, 'messages' | 'instructions' | 'options'>): ModelRequest =>
    Object.freeze({
      ...given,
      run,
      iteration,
      model: given.options.model ?? client.model,
      signal,
      transformUpdates: (transformer: UpdateTransformer<ChatResponseUpdate>) =>
        context.transformUpdates(transformer),
      override({ model, ...changes }: Parameters<ModelRequest['override']>[0]) {
        const changed = { ...given, ...changes }
        return make(
          model === undefined ? changed : { ...changed, options: { ...changed.options, model } },
        )
      },
    })
  return make({ messages, instructions, options })
}

/** Makes a request from the current state of a tool call. */
export function functionRequest(context: FunctionInvocationContext): FunctionRequest {
  const { run, function: tool, callId, signal } = context
  const make = (args: Readonly<Record<string, unknown>>): FunctionRequest =>
    Object.freeze({
      run,
      function: tool,
      callId,
      arguments: args,
      signal,
      override: (changes: Partial<Pick<FunctionRequest, 'arguments'>>) =>
        make(changes.arguments ?? args),
    })
  return make(context.arguments)
}
