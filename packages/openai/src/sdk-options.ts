import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions, longestTimerMs } from '@lamella/core/authoring'
import { checkNoClash, defined } from '@lamella/transport'
import { OpenAI } from 'openai'
import { boundedFailures } from './connection/bounded-failures.ts'
import type { OpenAIConnectionSettings } from './connection/client-options.ts'
import { connecting, senderSettings } from './connection/client-options.ts'
import type { OpenAIClientOptions as FetchOptions } from './connection/openai-connection.ts'
import { keyFrom } from './connection/openai-connection.ts'
import { sdkSender } from './sdk-sender.ts'

/** Options of the clients on OpenAI's SDK. */
export interface OpenAIClientOptions extends OpenAIConnectionSettings {
  /** Your own OpenAI client. Excludes the options that would create one. */
  readonly client?: OpenAI | undefined
}

/** The same options with an SDK client that sends. `owner` is the class that is named in errors. */
export function sdkOptions<Options extends OpenAIClientOptions>(
  owner: string,
  options: Options,
  rules: OptionRules<NoInfer<Options>>,
): Omit<Options, keyof OpenAIClientOptions> & FetchOptions {
  checkOptions(owner, options, rules)
  return {
    ...options,
    apiKey: undefined,
    baseURL: undefined,
    organization: undefined,
    project: undefined,
    timeoutMs: undefined,
    fetch: undefined,
    defaultHeaders: undefined,
    client: sdkSender(sdkClient(owner, options)),
  }
}

function sdkClient(owner: string, options: OpenAIClientOptions): OpenAI {
  const { client, provider = 'openai', timeoutMs, defaultHeaders } = options
  if (client !== undefined) {
    checkNoClash(owner, options, connecting)
    return client
  }
  const { apiKey, baseURL, organization, project } = senderSettings(owner, options)
  return new OpenAI({
    apiKey: typeof apiKey === 'string' ? apiKey : () => keyFrom(apiKey, provider),
    ...defined({ baseURL, organization, project, defaultHeaders }),
    ...(timeoutMs !== undefined && { timeout: Math.min(timeoutMs, longestTimerMs) }),
    fetch: boundedFailures(options.fetch, options.idleTimeoutMs),
  })
}
