import type { Annotation } from '@lamella/core/authoring'
import type { ChatRequest } from '@lamella/core'
import type { OpenAIChatCompletionsClientOptions } from '@lamella/openai/fetch'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '@lamella/openai/fetch'
import { DataContextFold } from '../answers/azure-data-context.ts'
import type { AzureDataSource } from '../connection/azure-data-source.ts'
import { ContentFilterFold } from '../answers/content-filter-fold.ts'
import { firstChoice } from '../answers/first-choice.ts'

type Fields = Readonly<Record<string, unknown>>

/** Options of one call besides those of OpenAI's clients. */
export interface AzureCallOptions extends OpenAIChatCompletionsClientOptions {
  /** The name that Azure knows the model by. */
  readonly deployment: string | undefined
  readonly dataSources: readonly AzureDataSource[]
}

/** One call of Chat Completions: verdicts and citations come in pieces, and are gathered here. */
export class AzureChatCall extends OpenAIChatCompletionsClient {
  readonly #options: AzureCallOptions
  readonly #filter = new ContentFilterFold()
  readonly #context = new DataContextFold()

  constructor(options: AzureCallOptions) {
    const { deployment: _deployment, dataSources: _dataSources, ...shared } = options
    super(shared)
    this.#options = options
  }

  protected override requestBody(request: ChatRequest): Record<string, unknown> {
    const body = withDeployment(super.requestBody(request), request, this.#options)
    const { dataSources } = this.#options
    return dataSources.length > 0 ? { data_sources: dataSources, ...body } : body
  }

  protected override metadataOf(payload: Fields): Fields | undefined {
    const isNews = this.#filter.add(payload)
    const { message, delta } = firstChoice(payload)
    const dataContext = this.#context.add(message ?? delta)
    if (!isNews && dataContext === undefined) return undefined
    return {
      ...(isNews && { contentFilter: this.#filter.verdict() }),
      ...(dataContext && { dataContext }),
    }
  }

  protected override annotationsOf(message: Fields): readonly Annotation[] {
    return this.#context.annotations(message)
  }
}

/** One call of the Responses API. */
export class AzureResponsesCall extends OpenAIChatClient {
  readonly #options: AzureCallOptions
  readonly #filter = new ContentFilterFold()

  constructor(options: AzureCallOptions) {
    const { client, provider, model, firstUpdateTimeoutMs, idleTimeoutMs } = options
    super({ client, provider, model, firstUpdateTimeoutMs, idleTimeoutMs })
    this.#options = options
  }

  protected override requestBody(request: ChatRequest): Record<string, unknown> {
    return withDeployment(super.requestBody(request), request, this.#options)
  }

  protected override metadataOf(payload: Fields): Fields | undefined {
    return this.#filter.add(payload) ? { contentFilter: this.#filter.verdict() } : undefined
  }
}

/** A call that names the client's own model means its deployment, any other name is a deployment. */
function withDeployment(
  body: Record<string, unknown>,
  request: ChatRequest,
  { model, deployment }: AzureCallOptions,
): Record<string, unknown> {
  const isOwn = body['model'] === model && (request.options.model ?? model) === model
  return isOwn && deployment !== undefined ? { ...body, model: deployment } : body
}
