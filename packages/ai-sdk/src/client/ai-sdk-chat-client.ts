import type { ChatClientOptions, ContinuationReport, Origin } from '@lamella/core/authoring'
import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import { BaseChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { reportTools } from '@lamella/transport'
import type { AiSdkModel, CallableModel } from '../model/language-model.ts'
import { callableModel } from '../model/language-model.ts'
import { callSettings, toolSchemas } from './call-options.ts'
import type { Download } from './linked-files.ts'
import { withLinkedFiles } from './linked-files.ts'
import type { CallTimeouts } from './model-call.ts'
import { callModel, streamModel } from './model-call.ts'
import { modelHistory } from './model-history.ts'
import { toPrompt } from './prompt.ts'

/** Options of `aiSdk`. */
export interface AiSdkOptions extends Pick<ChatClientOptions, 'middleware' | 'name'> {
  /**
   * Headers of every request.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Downloads files behind links that the model does not open by itself. It must restrict the
   * addresses, because links may come from users.
   * @default none: the model reads the link as text
   */
  readonly download?: Download | undefined
  /**
   * Time limit for a plain call in milliseconds. `Infinity` sets no limit.
   * @default 600_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds from the request to the first update of a stream. `Infinity` sets no limit.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /**
   * Milliseconds without any part of a stream that is being read. `Infinity` sets no limit.
   * @default 300_000
   */
  readonly idleTimeoutMs?: number | undefined
}

/** A model of the AI SDK as a chat client. */
export class AiSdkChatClient extends BaseChatClient {
  readonly provider: string
  readonly #model: CallableModel
  readonly #headers: AiSdkOptions['headers']
  readonly #download: Download | undefined
  readonly #timeouts: CallTimeouts

  constructor(model: AiSdkModel, options: AiSdkOptions = {}) {
    const callable = callableModel('aiSdk', model)
    checkOptions('aiSdk', options, {
      name: 'string?',
      middleware: 'any',
      headers: 'any',
      download: 'function?',
      timeoutMs: 'any',
      firstUpdateTimeoutMs: 'any',
      idleTimeoutMs: 'any',
    })
    super({ name: options.name, model: callable.modelId, middleware: options.middleware })
    this.provider = callable.provider
    this.#model = callable
    this.#headers = options.headers
    this.#download = options.download
    this.#timeouts = timeoutsOf(options)
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    return callModel(this.#model, request, await this.#callOf(request), this.#timeouts)
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return streamModel(this.#model, request, () => this.#callOf(request), this.#timeouts)
  }

  /** Makes any history valid for models of the AI SDK. Every call does this itself. */
  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return modelHistory(messages, this.#home).messages
  }

  /** Lists the parts of a history that a request would omit or change. */
  canContinue(messages: readonly Message[]): ContinuationReport {
    const { losses } = modelHistory(messages, this.#home)
    return { ok: losses.length === 0, losses }
  }

  get #home(): Origin {
    return { provider: this.provider, model: this.model }
  }

  async #callOf(request: ChatRequest) {
    const { messages, instructions, options, signal } = request
    const { specificationVersion: version, provider } = this.#model
    const { settings, ignored } = callSettings(options, this.#model)
    const history = modelHistory(messages, this.#home)
    const reached = await withLinkedFiles(history.messages, this.#model, this.#download, signal)
    const prompt = toPrompt(reached, instructions, { version, provider })
    const headers = this.#headers
    const aliases = reportTools(request, this.provider, toolSchemas)
    const omitted = { ignored, losses: history.losses, aliases }
    return { options: { prompt, ...settings, ...(headers && { headers }) }, omitted }
  }
}

function timeoutsOf({
  timeoutMs = 600_000,
  firstUpdateTimeoutMs = 600_000,
  idleTimeoutMs = 300_000,
}: AiSdkOptions): CallTimeouts {
  const timeouts = { timeoutMs, firstUpdateTimeoutMs, idleTimeoutMs }
  for (const [name, ms] of Object.entries(timeouts)) {
    if (!(ms > 0)) {
      throw new RangeError(`aiSdk: \`${name}\` must be more than 0 milliseconds, got ${ms}`)
    }
  }
  return timeouts
}

/**
 * Creates a chat client from any language model of the AI SDK: `aiSdk(openai('gpt-5'))`.
 * @throws TypeError for anything but a model of specification v2, v3 or v4
 * @example
 * ```ts
 * import { google } from '@ai-sdk/google'
 * import { aiSdk } from '@lamella/ai-sdk'
 * import { Agent } from '@lamella/core'
 *
 * const client = aiSdk(google('gemini-2.5-flash'))
 * const agent = new Agent({ client, instructions: 'Answer in one sentence.' })
 * const ask = (question: string) => agent.run(question)
 * ```
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): AiSdkChatClient {
  return new AiSdkChatClient(model, options)
}
