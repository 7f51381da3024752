import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import type { ContinuationReport } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import { AzureChatCall, AzureResponsesCall } from '../calls/azure-calls.ts'
import { deploymentOf, provider } from '../connection/azure-connection.ts'
import type { AzureDataSource } from '../connection/azure-data-source.ts'
import { toAzureError } from '../calls/azure-error.ts'
import type { AzureConnectionSettings } from '../connection/azure-openai-client-options.ts'
import { httpSender } from '../connection/http-sender.ts'
import type { RequestSender } from '@lamella/transport'
import { takeDataSources } from '../connection/azure-openai-provider-options.ts'
import { checkClientOptions } from '../connection/check-client-options.ts'

const owner = 'AzureOpenAIChatClient'

/** Options of `AzureOpenAIChatClient` that sends with `fetch`. */
export interface AzureOpenAIClientOptions extends AzureConnectionSettings {
  /**
   * Sends the requests instead of the client's own `HttpClient`. Excludes the options that would
   * create one.
   */
  readonly client?: RequestSender | undefined
}

interface AzureCall {
  readonly client: AzureChatCall | AzureResponsesCall
  readonly request: ChatRequest
  readonly dataSources: readonly AzureDataSource[]
}

/**
 * Models that are deployed on Azure, through Chat Completions or the Responses API.
 *
 * @example
 * ```ts
 * import { AzureOpenAIChatClient } from '@lamella/azure-openai/fetch'
 *
 * const client = new AzureOpenAIChatClient({
 *   endpoint: 'https://name.openai.azure.com',
 *   apiKey: 'my-key',
 *   deployment: 'chat-prod',
 * })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class AzureOpenAIChatClient extends BaseChatClient {
  readonly provider: string = provider
  /** Called where a call names no model, or the client's own. */
  readonly deployment: string | undefined
  readonly #options: AzureOpenAIClientOptions
  readonly #sender: RequestSender

  /** @throws TypeError without an endpoint or a credential, or for options that do not go together */
  constructor(options: AzureOpenAIClientOptions = {}) {
    checkClientOptions(owner, options)
    const deployment = deploymentOf(options)
    super({ ...options, model: options.model ?? deployment })
    this.deployment = deployment
    this.#options = options
    this.#sender = options.client ?? httpSender(owner, options)
  }

  /** The API, the server, the deployment, and the data sources without what proves who asks. */
  get fingerprint(): string {
    const { api = 'chat', dataSources = [] } = this.#options
    const { origin, pathname } = new URL(this.#sender.baseURL)
    const sources = JSON.stringify(dataSources, (key, value: unknown) =>
      key === 'authentication' ? undefined : value,
    )
    return `${api} ${origin}${pathname} ${this.deployment} ${sources}`
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const call = this.#call(request)
    try {
      return await call.client.respond(call.request)
    } catch (error) {
      throw toAzureError(error, call.dataSources)
    }
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    const call = this.#call(request)
    const updates = call.client.stream(call.request)
    const fail = (error: unknown): never => {
      throw toAzureError(error, call.dataSources)
    }
    return {
      [Symbol.asyncIterator]() {
        const iterator = updates[Symbol.asyncIterator]()
        return {
          next: () => iterator.next().catch(fail),
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        }
      },
    }
  }

  /** Makes any history valid for the client's API. Every call does this itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#client([]).prepareHistory(messages)
  }

  /** Lists the parts of a history that a request would omit or change. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    return this.#client([]).canContinue(messages)
  }

  #call(given: ChatRequest): AzureCall {
    const { request, dataSources = this.#options.dataSources ?? [] } = takeDataSources(
      given,
      provider,
    )
    if (dataSources.length > 0 && this.#options.api === 'responses') {
      throw new TypeError(`${owner}: \`dataSources\` needs \`api: 'chat'\``)
    }
    return { client: this.#client(dataSources), request, dataSources }
  }

  #client(dataSources: readonly AzureDataSource[]): AzureChatCall | AzureResponsesCall {
    const { api, firstUpdateTimeoutMs, idleTimeoutMs, maxTokensField, streamUsage } = this.#options
    // Azure refuses fields beside data sources that it takes without them (openai-python#2296).
    const hasSources = dataSources.length > 0
    const options = {
      client: this.#sender,
      provider,
      model: this.model,
      deployment: this.deployment,
      dataSources,
      dialect: 'azure' as const,
      firstUpdateTimeoutMs,
      idleTimeoutMs,
      maxTokensField: maxTokensField ?? (hasSources ? 'max_tokens' : 'max_completion_tokens'),
      streamUsage: streamUsage ?? !hasSources,
    }
    return api === 'responses' ? new AzureResponsesCall(options) : new AzureChatCall(options)
  }
}
