import { checkValue, wrongOption } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import type { Schema } from '../base/standard-schema.ts'
import type { ToolDefinition } from './run.ts'

/** Tool choice: the model decides, calls none, calls at least one, or calls the named one. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | {
      readonly mode: 'required'
      /** Name of the tool that the model must call. */
      readonly functionName: string
    }

/** State of the loop, for a `toolChoice` function. */
export type LoopState = {
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** Tool calls executed so far in this run. */
  readonly functionCalls: number
  /** Number of consecutive iterations with a failed tool call. */
  readonly consecutiveErrors: number
}

/** `'text'`, `'json'`, or a schema for the answer. */
export type ResponseFormat =
  | 'text'
  | 'json'
  | {
      /** Schema of the response's value. */
      readonly schema: Schema
      /** Name of the schema, for the provider. @default chosen by the client */
      readonly name?: string | undefined
      /**
       * Requests strict schema adherence, if the provider supports it.
       * @default the client's
       */
      readonly strict?: boolean | undefined
    }

/** A response format whose schema gives `response.value` its type. */
export interface FormatOption<Value> {
  /** Format of the response. @default 'text' */
  readonly responseFormat?:
    | 'text'
    | 'json'
    | {
        /** Schema of the response's value. */
        readonly schema: Schema<Value>
      }
    | undefined
}

/**
 * Options of a model call. An interface, so that packages may add their own per-call options by
 * declaration merging.
 */
export interface ChatOptions {
  /** Model to call. @default the client's model */
  readonly model?: string | undefined
  /** Sampling temperature; the range depends on the provider. @default the provider's */
  readonly temperature?: number | undefined
  /** Probability mass for nucleus sampling, from 0 to 1. @default the provider's */
  readonly topP?: number | undefined
  /** Maximum number of tokens in the response. @default the provider's */
  readonly maxOutputTokens?: number | undefined
  /** Texts that end the response. @default none */
  readonly stop?: readonly string[] | undefined
  /** Seed for reproducible sampling, if the provider supports it. @default none */
  readonly seed?: number | undefined
  /** Tools that the model may call, in addition to the agent's. @default none */
  readonly tools?: readonly ToolDefinition[] | undefined
  /**
   * Tool choice, or a function that returns one for each iteration.
   * @default the provider's, usually 'auto'
   */
  readonly toolChoice?: ToolChoice | ((state: LoopState) => ToolChoice | undefined) | undefined
  /** Allows more than one tool call in a response. @default the provider's */
  readonly allowParallelToolCalls?: boolean | undefined
  /** Format of the response. @default 'text' */
  readonly responseFormat?: ResponseFormat | undefined
  /** Settings for reasoning models. @default the provider's */
  readonly reasoning?:
    | {
        /** Amount of reasoning, such as `low`; the values depend on the provider. */
        readonly effort?: string | undefined
        /** Detail of the reasoning summary, such as `auto`; the values depend on the provider. */
        readonly summary?: string | undefined
      }
    | undefined
  /** Key and value pairs that the provider stores with the call. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** End user's id, for the provider's abuse detection. @default none */
  readonly user?: string | undefined
  /** Maximum number of retries of the provider's SDK. A retry middleware sets 0. */
  readonly transportRetries?: number | undefined
  /** Options of one provider, by its name: `{ openai: { serviceTier: 'flex' } }`. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
}

/**
 * Merges `over` into `base`. Undefined fields of `over` change nothing; tools and metadata are
 * joined, and provider options are merged by provider.
 */
export function mergeChatOptions(
  base: ChatOptions | undefined,
  over: ChatOptions | undefined,
): ChatOptions {
  const wrong = base !== undefined && !isObject(base) ? base : over
  if (wrong !== undefined && !isObject(wrong))
    throw wrongOption('run', 'options', 'an object', wrong)
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

/** Returns true if a resolved choice forces the model to call a tool. */
export function isRequired(toolChoice: ChatOptions['toolChoice']): boolean {
  if (typeof toolChoice !== 'object') return toolChoice === 'required'
  return toolChoice.mode === 'required'
}

/**
 * Returns the options with the current result of a `toolChoice` function.
 * @throws TypeError for a choice that no client knows
 */
export function resolveToolChoice(options: ChatOptions, state: LoopState): ChatOptions {
  const { toolChoice: given } = options
  if (given === undefined) return options
  const toolChoice = typeof given === 'function' ? given(state) : given
  const isNamed =
    isObject(toolChoice) &&
    toolChoice.mode === 'required' &&
    typeof toolChoice.functionName === 'string'
  const rule = "be 'auto', 'none', 'required' or { mode: 'required', functionName }"
  const isWord = [undefined, 'auto', 'none', 'required'].includes(toolChoice as string)
  checkValue(isNamed || isWord, '`toolChoice`', rule, toolChoice)
  return toolChoice === given ? options : { ...options, toolChoice }
}

/** @throws TypeError for instructions that are no text */
export function checkInstructions(given: unknown): void {
  if (given === undefined || typeof given === 'string') return
  checkValue(false, '`instructions`', 'be a string', given)
}

const noOptions: ChatOptions = Object.freeze({})
