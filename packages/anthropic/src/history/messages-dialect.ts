/** Differences of a server with Anthropic's protocol. */
export interface MessagesDialect {
  /** Name of the server: the origin of contents, and the key of its `providerOptions`. */
  readonly provider: string
  /** Hosts of a `baseURL` that select the dialect. A name includes its subdomains. */
  readonly hosts: readonly string[]
  /**
   * True if thinking without a signature is sent back. Anthropic rejects it, others reject a
   * message without it.
   */
  readonly unsignedThinking: boolean
  /**
   * True if each assistant message must have thinking, an empty one if the model did not think or
   * another model answered.
   */
  readonly requiredThinking: boolean
  /** True if a message may have images and documents. */
  readonly files: boolean
}

/** Name of one of `messagesDialects`. */
export type MessagesDialectName =
  | 'anthropic'
  | 'deepseek'
  | 'moonshot'
  | 'zai'
  | 'minimax'
  | 'openrouter'
  | 'litellm'
  | 'vllm'
  | 'ollama'
  | 'llamacpp'
  | 'lmstudio'

const anthropic: MessagesDialect = {
  provider: 'anthropic',
  hosts: ['api.anthropic.com'],
  unsignedThinking: false,
  requiredThinking: false,
  files: true,
}

/** A server of open models: its thinking has no signature, or an empty one. */
const open: MessagesDialect = { ...anthropic, hosts: [], unsignedThinking: true }

/**
 * Dialects of known servers, by name. A `baseURL` at one of their `hosts` selects the dialect; servers
 * that run anywhere, such as `ollama`, are selected by the option `dialect`. Any other server counts as
 * a gateway to Anthropic's models.
 *
 * @example
 * ```ts
 * import { AnthropicChatClient, messagesDialects } from '@lamella/anthropic'
 *
 * const client = new AnthropicChatClient({
 *   apiKey: 'my-key',
 *   baseURL: 'http://localhost:8000',
 *   model: 'my-model',
 *   dialect: { ...messagesDialects.ollama, provider: 'my-server' },
 * })
 * ```
 */
export const messagesDialects: Readonly<Record<MessagesDialectName, MessagesDialect>> = {
  anthropic,
  /**
   * A message without thinking answers with status 400, an empty one is accepted.
   * https://api-docs.deepseek.com/guides/anthropic_api, esengine/DeepSeek-Reasonix#8927 (2026-08)
   */
  deepseek: {
    ...open,
    provider: 'deepseek',
    hosts: ['api.deepseek.com'],
    requiredThinking: true,
    files: false,
  },
  /** https://platform.moonshot.ai/docs/guide/agent-support, and Kimi's plan for code */
  moonshot: {
    ...open,
    provider: 'moonshot',
    hosts: ['api.moonshot.ai', 'api.moonshot.cn', 'api.kimi.com'],
  },
  /** https://docs.z.ai/scenario-example/develop-tools/claude */
  zai: { ...open, provider: 'zai', hosts: ['api.z.ai', 'open.bigmodel.cn'] },
  /** https://platform.minimax.io/docs/api-reference/text-anthropic-api */
  minimax: { ...open, provider: 'minimax', hosts: ['api.minimax.io', 'api.minimaxi.com'] },
  /** Models of every maker: those of Anthropic sign, others do not. https://openrouter.ai/docs/api-reference */
  openrouter: { ...open, provider: 'openrouter', hosts: ['openrouter.ai'] },
  /** The same. https://docs.litellm.ai/docs/anthropic_unified */
  litellm: { ...open, provider: 'litellm' },
  /** https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html */
  vllm: { ...open, provider: 'vllm' },
  /** https://docs.ollama.com/api/anthropic-compatibility */
  ollama: { ...open, provider: 'ollama' },
  /** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
  llamacpp: { ...open, provider: 'llamacpp' },
  /** https://lmstudio.ai/docs/developer/anthropic-compat */
  lmstudio: { ...open, provider: 'lmstudio' },
}

/** The dialect of the option, else that of the host, else Anthropic's. */
export function dialectOf(
  option: MessagesDialectName | MessagesDialect | undefined,
  address: string,
): MessagesDialect {
  if (typeof option === 'object') return option
  if (option !== undefined) return messagesDialects[option]
  const host = URL.canParse(address) ? new URL(address).hostname : ''
  const known: readonly MessagesDialect[] = Object.values(messagesDialects)
  return (
    known.find(({ hosts }) => hosts.some((name) => host === name || host.endsWith(`.${name}`))) ??
    anthropic
  )
}
