import type { ChatDialect } from './chat-dialect.ts'

/** Name of one of `chatDialects`. */
export type ChatDialectName =
  | 'openai'
  | 'compatible'
  | 'azure'
  | 'deepseek'
  | 'mistral'
  | 'groq'
  | 'together'
  | 'openrouter'
  | 'fireworks'
  | 'gemini'
  | 'anthropic'
  | 'xai'
  | 'moonshot'
  | 'ollama'
  | 'vllm'
  | 'lmstudio'
  | 'llamacpp'
  | 'litellm'

/**
 * Dialects of known servers, by name. A `baseURL` at one of their `hosts` selects the dialect; servers
 * that run anywhere, such as `ollama`, are selected by the option `dialect`.
 *
 * @example
 * ```ts
 * import { chatDialects, OpenAIChatCompletionsClient } from '@lamella/openai'
 *
 * const client = new OpenAIChatCompletionsClient({
 *   baseURL: 'http://localhost:8000/v1',
 *   model: 'my-model',
 *   dialect: { ...chatDialects.vllm, provider: 'my-server', thinking: 'always' },
 * })
 * ```
 */
export const chatDialects: Readonly<Record<ChatDialectName, ChatDialect>> = /* @__PURE__ */ known()

function known(): Readonly<Record<ChatDialectName, ChatDialect>> {
  const openai: ChatDialect = {
    provider: 'openai',
    hosts: ['api.openai.com'],
    thinking: 'never',
    callIds: { maxLength: 40 },
    maxTokensField: 'auto',
    streamUsage: true,
    jsonObject: true,
    images: 'any',
    refusals: true,
    userAfterTools: true,
    thinkingTags: [],
    finishReasons: {},
    usage: {},
    errorCodes: {},
  }

  /** A server that nothing is known of: what OpenAI takes, with thinking while a round of tool calls lasts. */
  const compatible: ChatDialect = { ...openai, hosts: [], thinking: 'round' }

  /** A server of open models. */
  const open: ChatDialect = {
    ...compatible,
    refusals: false,
    maxTokensField: 'max_tokens',
    thinkingTags: ['think'],
    files: false,
    audio: false,
  }

  /** A server that anybody runs. Chat templates of many models take one system message, in front. */
  const local: ChatDialect = { ...open, oneSystemMessage: true }

  return {
    openai,
    compatible,
    /** https://learn.microsoft.com/azure/ai-foundry/openai/reference */
    azure: { ...compatible, provider: 'azure-openai', hosts: ['openai.azure.com'] },
    /**
     * With tools, all thinking must go back, and a message without any answers with status 400.
     * https://api-docs.deepseek.com/guides/thinking_mode
     */
    deepseek: {
      ...open,
      provider: 'deepseek',
      hosts: ['api.deepseek.com'],
      thinking: 'always',
      requiredThinkingField: 'reasoning_content',
      images: 'none',
      thinkingTags: [],
      usage: { cachedInputTokens: 'prompt_cache_hit_tokens' },
    },
    /**
     * Ids have nine letters and digits; tool results are followed by the assistant; thinking is a part of
     * the content. https://docs.mistral.ai/api
     */
    mistral: {
      ...open,
      provider: 'mistral',
      hosts: ['api.mistral.ai'],
      thinking: 'always',
      callIds: { maxLength: 9, isExact: true },
      audio: true,
      seedField: 'random_seed',
      userAfterTools: false,
      thinkingTags: [],
      finishReasons: { model_length: 'length' },
    },
    /** https://console.groq.com/docs/api-reference */
    groq: {
      ...open,
      provider: 'groq',
      hosts: ['api.groq.com'],
      authorNames: false,
      maxTokensField: 'max_completion_tokens',
    },
    /** https://docs.together.ai/reference/chat-completions-1 */
    together: {
      ...open,
      provider: 'together',
      hosts: ['api.together.xyz', 'api.together.ai'],
      finishReasons: { eos: 'stop' },
      usage: { cachedInputTokens: 'cached_tokens' },
    },
    /** https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks */
    openrouter: {
      ...open,
      provider: 'openrouter',
      hosts: ['openrouter.ai'],
      thinking: 'always',
      files: true,
      audio: true,
      refusals: true,
      thinkingTags: [],
    },
    /** https://docs.fireworks.ai/api-reference/post-chatcompletions */
    fireworks: { ...open, provider: 'fireworks', hosts: ['api.fireworks.ai'] },
    /** Signatures go back beside the calls. https://ai.google.dev/gemini-api/docs/openai */
    gemini: {
      ...open,
      provider: 'gemini',
      hosts: ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com'],
      thinking: 'never',
      thinkingTags: ['thought'],
      files: true,
      audio: true,
      // Gemini 3 refuses a call without a signature, and names this one for calls of other models.
      // https://ai.google.dev/gemini-api/docs/thought-signatures, 2026-11.
      foreignSignature: 'skip_thought_signature_validator',
      errorCodes: { RESOURCE_EXHAUSTED: 'rate_limit', UNAVAILABLE: 'overloaded' },
    },
    /** https://platform.claude.com/docs/en/api/openai-sdk */
    anthropic: {
      ...open,
      provider: 'anthropic-compatible',
      hosts: ['api.anthropic.com'],
      thinking: 'never',
      files: true,
      thinkingTags: [],
    },
    /** https://docs.x.ai/docs/api-reference */
    xai: { ...open, provider: 'xai', hosts: ['api.x.ai'], thinkingTags: [] },
    /** https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model */
    moonshot: {
      ...open,
      provider: 'moonshot',
      hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
      thinking: 'tool-turns',
      thinkingTags: [],
      usage: { cachedInputTokens: 'cached_tokens' },
    },
    /** Images in the request only. https://docs.ollama.com/openai */
    ollama: { ...local, provider: 'ollama', images: 'inline' },
    /** https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html */
    vllm: { ...local, provider: 'vllm', audio: true },
    /** `json_object` is refused. https://lmstudio.ai/docs/app/api/structured-output */
    lmstudio: { ...local, provider: 'lmstudio', jsonObject: false, images: 'inline' },
    /** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
    llamacpp: {
      ...local,
      provider: 'llamacpp',
      audio: true,
      errorCodes: { exceed_context_size_error: 'context_length' },
    },
    /** https://docs.litellm.ai/docs/reasoning_content */
    litellm: { ...compatible, provider: 'litellm' },
  }
}

/**
 * The dialect of the option, else that of the host, else that of the name of the provider, else the one
 * for servers that are not known.
 */
export function dialectOf(
  option: ChatDialectName | ChatDialect | undefined,
  address: string,
  provider?: string,
): ChatDialect {
  if (typeof option === 'object') return option
  if (option !== undefined) return chatDialects[option]
  const host = URL.canParse(address) ? new URL(address).hostname : ''
  const all = Object.values(chatDialects)
  return (
    all.find(({ hosts }) => hosts.some((name) => host === name || host.endsWith(`.${name}`))) ??
    all.find(
      (dialect) =>
        dialect !== chatDialects.openai &&
        dialect.provider === provider &&
        dialect !== chatDialects.compatible,
    ) ??
    chatDialects.compatible
  )
}
