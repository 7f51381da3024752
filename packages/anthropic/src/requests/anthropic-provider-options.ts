import type { ChatRequest } from '@lamella/core'
import type { ProviderOptionTypes, SharedProviderOptions } from '@lamella/transport'
import { ownProviderOptions } from '@lamella/transport'

/** Lifetime of an entry in the prompt cache. */
export type CacheTime = '5m' | '1h'

/**
 * Options that only Anthropic has, given per call as `providerOptions: { anthropic: { … } }`. A type and
 * not an interface, so that a variable of it fits `ChatOptions`.
 */
export type AnthropicProviderOptions = SharedProviderOptions & {
  /**
   * Selects the cached prefix of the prompt and its lifetime: with a time alone, Anthropic chooses
   * the prefix; otherwise it ends after the tools, the system prompt or the last message.
   * @default nothing
   */
  readonly cacheControl?:
    | CacheTime
    | {
        /** Caches up to the end of the tools. @default not */
        readonly tools?: CacheTime | undefined
        /** Caches up to the end of the system prompt. @default not */
        readonly system?: CacheTime | undefined
        /** Caches up to the end of the last message. @default not */
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
  /** Data about the request. @default none */
  readonly metadata?:
    | {
        /** Opaque id of the end user; comes before `user`. @default `user` of the call */
        readonly userId?: string | undefined
      }
    | undefined
  /** The container of an earlier answer (`response.metadata.container`) or its skills. */
  readonly container?: string | Readonly<Record<string, unknown>> | undefined
  /**
   * Sends system messages within the conversation. Otherwise they become part of
   * the system prompt.
   * @default by the model's name: Opus from 4.8 on, Fable and Mythos 5
   */
  readonly laterSystemMessages?: boolean | undefined
  /** Sends tools as `strict`: their arguments always fit. @default false */
  readonly strictTools?: boolean | undefined
}

const types: ProviderOptionTypes<AnthropicProviderOptions> = {
  cacheControl: 'string or object',
  thinking: 'object',
  effort: 'string',
  serviceTier: 'string',
  betas: 'array',
  metadata: 'object',
  container: 'string or object',
  laterSystemMessages: 'boolean',
  strictTools: 'boolean',
}

/**
 * The provider options of a call: those under `anthropic`, and over them those under the client's own
 * provider name.
 * @throws TypeError for an unknown option or a wrong type
 */
export function readProviderOptions(
  { options }: ChatRequest,
  provider: string,
): AnthropicProviderOptions {
  const names = ['anthropic', provider]
  const aliases = { claude: 'anthropic' }
  const own = ownProviderOptions<AnthropicProviderOptions>(options, names, aliases, types)
  const isNamed = options.providerOptions?.[provider] !== undefined
  const place = `providerOptions.${isNamed ? provider : 'anthropic'}`
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
