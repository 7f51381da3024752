import type { ChatRequest } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { ProviderOptionTypes, SharedProviderOptions } from '@lamella/transport'
import { ownProviderOptions } from '@lamella/transport'

/** A response that OpenAI works on in the background. */
export interface BackgroundOptions {
  /**
   * Id of a response that was submitted before. The call waits for it and submits nothing.
   * @default a new response
   */
  readonly responseId?: string | undefined
  /**
   * Waits until the response is complete, and cancels it if the call is aborted or its stream is left.
   * Otherwise the call returns at once with `metadata.status`, and nothing cancels the response.
   * @default true
   */
  readonly wait?: boolean | undefined
  /** Milliseconds between two polls. @default 2000 */
  readonly pollMs?: number | undefined
}

/**
 * Options that only OpenAI has, given per call as `providerOptions: { openai: { … } }`. A type and not an
 * interface, so that a variable of it fits `ChatOptions`.
 */
export type OpenAIProviderOptions = SharedProviderOptions & {
  /** `'auto'`, `'default'`, `'flex'`, `'priority'`, … @default the project's setting */
  readonly serviceTier?: string | undefined
  /** Routes calls with the same key to the server that caches their shared prefix. */
  readonly promptCacheKey?: string | undefined
  /** Retention of a cached prefix: `'in_memory'` or `'24h'`. */
  readonly promptCacheRetention?: string | undefined
  /** A stable, anonymous name of the end user, for OpenAI's abuse detection. */
  readonly safetyIdentifier?: string | undefined
  /** Length of answers: `'low'`, `'medium'` or `'high'`. @default 'medium' */
  readonly verbosity?: string | undefined
  /**
   * Lets OpenAI keep the response. The next call of the Responses API then sends only what follows it.
   * @default false in the Responses API unless a
   * `conversation` is given; not sent in Chat Completions
   */
  readonly store?: boolean | undefined
  /**
   * Responses API: continues a conversation that OpenAI keeps, by the id of a response or of a
   * conversation (`conv_…`). Calls send what OpenAI does not have yet.
   * @default a new conversation
   */
  readonly conversation?: string | undefined
  /**
   * Responses API: creates the response in the background, where it survives broken connections.
   * @default false
   */
  readonly background?: boolean | BackgroundOptions | undefined
  /** Responses API: additional data to return, such as `'web_search_call.action.sources'`. */
  readonly include?: readonly string[] | undefined
  /** Responses API: maximum number of calls of hosted tools. @default no limit */
  readonly maxToolCalls?: number | undefined
  /** Responses API: `'auto'` lets OpenAI drop the middle of an input that is too long. @default 'disabled' */
  readonly truncation?: string | undefined
  /**
   * Sends tools as `strict` if OpenAI accepts their schema as strict: their arguments always fit.
   * @default false
   */
  readonly strictTools?: boolean | undefined
}

const types: ProviderOptionTypes<OpenAIProviderOptions> = {
  serviceTier: 'string',
  promptCacheKey: 'string',
  promptCacheRetention: 'string',
  safetyIdentifier: 'string',
  verbosity: 'string',
  store: 'boolean',
  conversation: 'string',
  background: 'boolean or object',
  include: 'array',
  maxToolCalls: 'number',
  truncation: 'string',
  strictTools: 'boolean',
}

/**
 * The provider options of a call: those under `openai`, and over them those under the client's own
 * provider name.
 * @throws TypeError for an unknown option or a wrong type
 */
export function readProviderOptions(
  { options }: ChatRequest,
  provider: string,
): OpenAIProviderOptions {
  const aliases = { azure: 'azure-openai' }
  const names = ['openai', provider]
  const merged = ownProviderOptions<OpenAIProviderOptions>(options, names, aliases, types)
  if (typeof merged.background === 'object') {
    const place = `providerOptions.${provider}: \`background\``
    checkOptions(place, merged.background, { responseId: 'string?', wait: 'any', pollMs: 1 })
  }
  return merged
}
