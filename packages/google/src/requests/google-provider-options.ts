import type { ChatRequest } from '@lamella/core'
import type { ProviderOptionTypes, SharedProviderOptions } from '@lamella/transport'
import { ownProviderOptions } from '@lamella/transport'

/** Blocks a category of harm from a threshold on. */
export type SafetySetting = {
  /** Such as `HARM_CATEGORY_HATE_SPEECH`. */
  readonly category: string
  /** Such as `BLOCK_ONLY_HIGH`, `BLOCK_NONE` or `OFF`. */
  readonly threshold: string
}

/** Contents that the client's `caching` keeps at Google before a request is sent. */
export type CachedContentOptions = {
  /** Milliseconds that Google keeps it, and bills it. @default 3_600_000 */
  readonly ttlMs?: number | undefined
  /**
   * Messages at the start of the history that belong to it, besides the instructions and the tools.
   * @default 0
   */
  readonly messages?: number | undefined
}

/**
 * Options that only Google has, given per call as `providerOptions: { google: { … } }`. A type and
 * not an interface, so that a variable of it fits `ChatOptions`.
 */
export type GoogleProviderOptions = SharedProviderOptions & {
  /**
   * Name of a cached content (`cachedContents/…`) that the request continues. Its system prompt and
   * tools count, so the request sends none. With options, the client's `caching` makes one of the instructions,
   * the tools and the first messages, and requests that begin with the same continue it.
   * @default none
   */
  readonly cachedContent?: string | CachedContentOptions | undefined
  /** Thresholds of the safety filters. @default the client's */
  readonly safetySettings?: readonly SafetySetting[] | undefined
  /**
   * Such as `{ thinkingLevel: 'LOW' }`, `{ thinkingBudget: 2048 }` or `{ includeThoughts: true }`. Its
   * fields override those of `reasoning`.
   */
  readonly thinkingConfig?: Readonly<Record<string, unknown>> | undefined
  /** Calls always fit the schemas of the tools (mode `VALIDATED`). @default false */
  readonly validatedTools?: boolean | undefined
  /** Such as `['TEXT', 'IMAGE']`. @default the model's */
  readonly responseModalities?: readonly string[] | undefined
  /** Such as `MEDIA_RESOLUTION_LOW`. @default the model's */
  readonly mediaResolution?: string | undefined
  /** `'flex'`, `'standard'` or `'priority'`; the Gemini API only. @default 'standard' */
  readonly serviceTier?: string | undefined
  /** Labels for the bill; Vertex AI only. @default none */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

const types: ProviderOptionTypes<GoogleProviderOptions> = {
  cachedContent: 'string or object',
  safetySettings: 'array',
  thinkingConfig: 'object',
  validatedTools: 'boolean',
  responseModalities: 'array',
  mediaResolution: 'string',
  serviceTier: 'string',
  labels: 'object',
}

/**
 * The provider options of a call: those under `google`, and over them those under the client's own
 * provider name.
 * @throws TypeError for an unknown option or a wrong type
 */
export function readProviderOptions(
  { options }: ChatRequest,
  provider: string,
): GoogleProviderOptions {
  const aliases = { gemini: 'google', vertex: 'google' }
  const names = ['google', provider]
  return ownProviderOptions<GoogleProviderOptions>(options, names, aliases, types)
}
