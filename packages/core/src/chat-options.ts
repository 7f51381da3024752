import type { Schema } from './standard-schema.ts'
import type { ToolDefinition } from './tool.ts'

/** Whether and which tools the model is to call. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly mode: 'required'; readonly functionName: string }

/** What a `toolChoice` function is told about the loop. */
export interface LoopState {
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** Tool calls executed so far in this run. */
  readonly functionCalls: number
  /** Rounds in a row in which a tool failed. */
  readonly consecutiveErrors: number
}

/** `'text'`, `'json'`, or a schema that the answer is to fit. */
export type ResponseFormat =
  | 'text'
  | 'json'
  | {
      readonly schema: Schema
      readonly name?: string | undefined
      readonly strict?: boolean | undefined
    }

/**
 * Options of a model call. An interface, so that packages may add their own per-call options by
 * declaration merging.
 */
export interface ChatOptions {
  readonly model?: string | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly tools?: readonly ToolDefinition[] | undefined
  readonly toolChoice?: ToolChoice | ((state: LoopState) => ToolChoice | undefined) | undefined
  readonly allowParallelToolCalls?: boolean | undefined
  readonly responseFormat?: ResponseFormat | undefined
  readonly reasoning?:
    | { readonly effort?: string | undefined; readonly summary?: string | undefined }
    | undefined
  /** Continues a conversation that the provider keeps. */
  readonly conversationId?: string | undefined
  /** Key and value pairs that the provider stores with the call. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly user?: string | undefined
  /** How often the provider's SDK may repeat a failed request. A retry layer sets 0. */
  readonly transportRetries?: number | undefined
  /** Options of one provider, by its name: `{ openai: { serviceTier: 'flex' } }`. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
}

/**
 * Lays `over` over `base`. What `over` leaves undefined stays; tools and metadata are joined, and
 * provider options by provider.
 */
export function mergeChatOptions(
  base: ChatOptions | undefined,
  over: ChatOptions | undefined,
): ChatOptions {
  if (base === undefined || over === undefined) return over ?? base ?? noOptions
  const merged = layOver(base, over)
  if (base.tools && over.tools) merged['tools'] = [...new Set([...base.tools, ...over.tools])]
  if (base.metadata) merged['metadata'] = layOver(base.metadata, over.metadata)
  if (base.providerOptions) {
    merged['providerOptions'] = layOver(base.providerOptions, over.providerOptions, 1)
  }
  return merged
}

/** Goes `depth` levels into the values. */
function layOver(base: object, over: object = {}, depth = 0): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const below = depth > 0 && merged[key]
    if (value !== undefined)
      merged[key] = below ? layOver(below, value as object, depth - 1) : value
  }
  return merged
}

/** Whether a choice that is no function makes the model call a tool. */
export function isRequired(toolChoice: ChatOptions['toolChoice']): boolean {
  if (typeof toolChoice !== 'object') return toolChoice === 'required'
  return toolChoice.mode === 'required'
}

/** The same options with what a `toolChoice` function says now. */
export function resolveToolChoice(options: ChatOptions, state: LoopState): ChatOptions {
  if (typeof options.toolChoice !== 'function') return options
  return { ...options, toolChoice: options.toolChoice(state) }
}

const noOptions: ChatOptions = Object.freeze({})
