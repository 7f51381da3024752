import type { ChatContext } from './chat-context.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatResponseUpdate } from './chat-response.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { Message } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { Tool } from './tool.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/** One model call as a value that does not change. */
export interface ModelRequest {
  readonly run: RunContext
  readonly iteration: number
  /** The model that will answer, where it is known. */
  readonly model: string | undefined
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly signal: AbortSignal
  /** Registers what to do to the updates of the call as they pass. Before the handler is called. */
  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void
  /** The same request with some of it changed. */
  override(
    changes: Partial<Pick<ModelRequest, 'model' | 'messages' | 'instructions' | 'options'>>,
  ): ModelRequest
}

/** One tool call as a value that does not change. */
export interface FunctionRequest {
  readonly run: RunContext
  readonly function: Tool
  readonly callId: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** The same request with some of it changed. Arguments are validated again before the tool runs. */
  override(changes: Partial<Pick<FunctionRequest, 'arguments'>>): FunctionRequest
}

/** What a model call is now. */
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

/** What a tool call is now. */
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
