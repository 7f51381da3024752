import type {
  ChatMiddleware,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  GetResponseOptions,
  Message,
} from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { BaseChatClient } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import type { ModelCall } from '../client/model-call.ts'
import { callModel, streamModel, unlimited } from '../client/model-call.ts'
import type { CallableModel } from '../model/language-model.ts'
import { ParamsTranslation } from './call-params.ts'
import type { PromptMessages } from './prompt-messages.ts'
import { PromptTranslation } from './prompt-messages.ts'

/**
 * A model inside `wrapLanguageModel`, for one call of it. Unlike `aiSdk`, it sends a history as it is: the
 * AI SDK has prepared it.
 */
export class WrappedModelClient extends BaseChatClient {
  readonly provider: string
  /** The call in Lamella's words. */
  readonly request: GetResponseOptions & PromptMessages & { readonly stream?: undefined }
  /** True if a middleware of the call retries, so that the AI SDK must not. */
  hasRetryOwner = false
  readonly #model: CallableModel
  readonly #prompt: PromptTranslation
  readonly #params: ParamsTranslation

  constructor(model: CallableModel, params: WireObject, middleware: readonly ChatMiddleware[]) {
    const { provider, modelId, specificationVersion: version } = model
    super({ model: modelId, middleware })
    const origin: Origin = { provider, model: modelId }
    this.provider = provider
    this.#model = model
    this.#prompt = new PromptTranslation(origin, { version, provider })
    this.#params = new ParamsTranslation(params)
    this.request = {
      ...this.#params.options,
      ...this.#prompt.toMessages(params['prompt']),
      signal: params['abortSignal'] as AbortSignal | undefined,
    }
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    return callModel(this.#model, request, this.#callOf(request), unlimited)
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return streamModel(this.#model, request, async () => this.#callOf(request), unlimited)
  }

  /** No preparation is needed. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return messages
  }

  #callOf({ messages, instructions, options }: ChatRequest): ModelCall {
    if (options.transportRetries === 0) this.hasRetryOwner = true
    const params = this.#params.toParams(options, this.#model)
    return {
      options: { ...params, prompt: this.#prompt.toPrompt(messages, instructions) },
      omitted: { ignored: [], losses: [] },
    }
  }
}
