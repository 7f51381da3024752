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
  const merged: Record<string, unknown> = { ...base }
  for (const key of Object.keys(over) as (keyof ChatOptions)[]) {
    if (over[key] !== undefined) merged[key] = over[key]
  }
  if (base.tools !== undefined && over.tools !== undefined) {
    merged['tools'] = [...new Set([...base.tools, ...over.tools])]
  }
  if (base.metadata !== undefined && over.metadata !== undefined) {
    merged['metadata'] = { ...base.metadata, ...over.metadata }
  }
  if (base.providerOptions !== undefined && over.providerOptions !== undefined) {
    const providers: Record<string, Readonly<Record<string, unknown>>> = { ...base.providerOptions }
    for (const [provider, options] of Object.entries(over.providerOptions)) {
      providers[provider] = { ...providers[provider], ...options }
    }
    merged['providerOptions'] = providers
  }
  return merged
}

const noOptions: ChatOptions = Object.freeze({})
