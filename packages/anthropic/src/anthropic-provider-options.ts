import type { ChatRequest } from '@lamella/core'

/** How long what was written to the prompt cache is kept. */
export type CacheTime = '5m' | '1h'

/**
 * What only Anthropic knows, given per call as `providerOptions: { anthropic: { … } }`. A type and
 * not an interface, so that a variable of it fits `ChatOptions`.
 */
export type AnthropicProviderOptions = {
  /**
   * What is cached, and for how long: a time alone lets Anthropic choose the place; otherwise the
   * end of the tools, of the system prompt, of the last message. @default nothing
   */
  readonly cacheControl?:
    | CacheTime
    | {
        readonly tools?: CacheTime | undefined
        readonly system?: CacheTime | undefined
        readonly lastMessage?: CacheTime | undefined
      }
    | undefined
  /** Such as `{ type: 'adaptive' }` or `{ type: 'enabled', budget_tokens: 4000 }`. @default the model's */
  readonly thinking?: Readonly<Record<string, unknown>> | undefined
  /** `'low'`, `'medium'`, `'high'`, `'xhigh'`, `'max'`; comes before `reasoning.effort`. */
  readonly effort?: string | undefined
  /** `'auto'` or `'standard_only'`. @default 'auto' */
  readonly serviceTier?: string | undefined
  /** Names for the header `anthropic-beta`. */
  readonly betas?: readonly string[] | undefined
  /** `userId`: an opaque id of the end user; comes before `user`. */
  readonly metadata?: { readonly userId?: string | undefined } | undefined
  /** The container of an earlier answer (`response.metadata.container`) or its skills. */
  readonly container?: string | Readonly<Record<string, unknown>> | undefined
  /**
   * Whether the model takes system messages within the conversation. Otherwise they become part of
   * the system prompt. @default by the model's name: Opus from 4.8 on, Fable and Mythos 5
   */
  readonly laterSystemMessages?: boolean | undefined
  /** Tools are sent as `strict`: their arguments always fit. @default false */
  readonly strictTools?: boolean | undefined
  /** Fields of the request body, laid over everything else, in Anthropic's own words. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined
  /** Headers of this request. */
  readonly extraHeaders?: Readonly<Record<string, string>> | undefined
}

const known: Readonly<Record<keyof AnthropicProviderOptions, readonly string[]>> = {
  cacheControl: ['string', 'object'],
  thinking: ['object'],
  effort: ['string'],
  serviceTier: ['string'],
  betas: ['array'],
  metadata: ['object'],
  container: ['string', 'object'],
  laterSystemMessages: ['boolean'],
  strictTools: ['boolean'],
  extraBody: ['object'],
  extraHeaders: ['object'],
}

/**
 * The provider options of a call.
 * @throws TypeError for one that is not known or of the wrong type
 */
export function readProviderOptions({ options }: ChatRequest): AnthropicProviderOptions {
  const own = options.providerOptions?.['anthropic'] ?? {}
  const place = 'providerOptions.anthropic'
  for (const [name, value] of Object.entries(own)) {
    const expected = Object.hasOwn(known, name)
      ? known[name as keyof AnthropicProviderOptions]
      : undefined
    if (expected === undefined) {
      throw new TypeError(
        `${place}: unknown option \`${name}\`; fields of the request go under \`extraBody\``,
      )
    }
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
    if (value !== undefined && !expected.includes(type)) {
      throw new TypeError(
        `${place}: \`${name}\` must be of type ${expected.join(' or ')}, got ${type}`,
      )
    }
  }
  checkCache(own, place)
  return own
}

function checkCache({ cacheControl }: AnthropicProviderOptions, place: string): void {
  const parts = typeof cacheControl === 'string' ? { '': cacheControl } : (cacheControl ?? {})
  for (const [part, time] of Object.entries(parts)) {
    if (!['', 'tools', 'system', 'lastMessage'].includes(part)) {
      throw new TypeError(`${place}: \`cacheControl\` has no part \`${part}\``)
    }
    if (time !== undefined && time !== '5m' && time !== '1h') {
      throw new RangeError(`${place}: \`cacheControl\` must be '5m' or '1h', got ${String(time)}`)
    }
  }
}
