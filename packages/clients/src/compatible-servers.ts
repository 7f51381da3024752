/**
 * Addresses of the servers that `OpenAIChatCompletionsClient` has a dialect for, by its name. One on
 * another machine has its own in a variable, such as `OLLAMA_BASE_URL`.
 */
export const compatibleServers: Readonly<Record<string, CompatibleServer>> = {
  deepseek: { baseURL: 'https://api.deepseek.com/v1' },
  fireworks: { baseURL: 'https://api.fireworks.ai/inference/v1' },
  groq: { baseURL: 'https://api.groq.com/openai/v1' },
  mistral: { baseURL: 'https://api.mistral.ai/v1' },
  moonshot: { baseURL: 'https://api.moonshot.ai/v1' },
  openrouter: { baseURL: 'https://openrouter.ai/api/v1' },
  together: { baseURL: 'https://api.together.xyz/v1' },
  xai: { baseURL: 'https://api.x.ai/v1' },
  litellm: { baseURL: 'http://localhost:4000', isLocal: true },
  llamacpp: { baseURL: 'http://localhost:8080/v1', isLocal: true },
  lmstudio: { baseURL: 'http://localhost:1234/v1', isLocal: true },
  ollama: { baseURL: 'http://localhost:11434/v1', isLocal: true },
  vllm: { baseURL: 'http://localhost:8000/v1', isLocal: true },
}

/** A server with a Chat Completions API. */
export interface CompatibleServer {
  readonly baseURL: string
  /** True if it needs no key. @default false */
  readonly isLocal?: boolean
}
