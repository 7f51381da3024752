import type { ChatClientOptions, Clock } from '@lamella/core/authoring'
import type { ChatRequest, ChatResponse, ChatResponseUpdate, Usage } from '@lamella/core'
import { BaseChatClient, foldUpdates, LamellaError, messageText } from '@lamella/core'
import { checkChatOptions, systemClock } from '@lamella/core/authoring'
import { abortable, untilAborted } from '../base/abortable.ts'
import type { Chunking } from '../base/chunking.ts'
import { cutResponse } from '../base/chunking.ts'
import { frozenCopy } from '../base/frozen-copy.ts'
import type {
  ReplyDefaults,
  ScriptedAnswer,
  ScriptedReply,
  ScriptedRequest,
  ScriptedStep,
  ScriptedStream,
} from './scripted-step.ts'
import { isScriptedStream, toScriptedResponse, toScriptedUpdates } from './scripted-step.ts'

/** Options of `scriptedClient`. */
export interface ScriptedClientOptions extends ChatClientOptions {
  /**
   * Chunking of a complete reply by `stream`.
   * @default 'word'
   */
  readonly chunk?: Chunking | undefined
  /**
   * Usage of every reply without its own.
   * @default { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
   */
  readonly usage?: Usage | undefined
  /**
   * Provider name of the client, for tests with several clients.
   * @default 'scripted'
   */
  readonly provider?: string | undefined
  /**
   * Prefix of the ids of responses, messages and calls (`msg_1`, `call_1` …).
   * @default '' for the provider 'scripted', otherwise the provider and a hyphen
   */
  readonly idPrefix?: string | undefined
  /**
   * Measures `delayMs` of scripted streams.
   * @default the system's
   */
  readonly clock?: Clock | undefined
}

/** Thrown when the calls of a test do not match its script. `code` is `script_mismatch`. */
export class ScriptError extends LamellaError {
  constructor(message: string) {
    super(message, { code: 'script_mismatch' })
  }

  override get name(): string {
    return 'ScriptError'
  }
}

/**
 * A client without a model: it answers the first call with the first step, and so on. A function
 * instead of the list answers every call. A call beyond the script rejects with a `ScriptError`.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient(['It is sunny.'])
 * await new Agent({ client }).run('How is Rome?')
 * console.log(client.requests[0]?.messages.length) // 1
 * client.assertDone()
 * ```
 */
export function scriptedClient(
  steps: readonly ScriptedStep[] | ScriptedAnswer,
  options: ScriptedClientOptions = {},
): ScriptedClient {
  return new ScriptedClient(steps, options)
}

/** Made by `scriptedClient`. */
export class ScriptedClient extends BaseChatClient {
  override readonly provider: string
  readonly #steps: readonly ScriptedStep[] | ScriptedAnswer
  readonly #options: ScriptedClientOptions
  readonly #requests: ScriptedRequest[] = []
  readonly #idPrefix: string
  #callIds = 0
  #openStreams = 0

  constructor(steps: readonly ScriptedStep[] | ScriptedAnswer, options: ScriptedClientOptions) {
    super(options)
    this.provider = options.provider ?? 'scripted'
    this.#steps = typeof steps === 'function' ? steps : [...steps]
    this.#options = options
    this.#idPrefix = options.idPrefix ?? (this.provider === 'scripted' ? '' : `${this.provider}-`)
  }

  /** Requests so far, in order. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests
  }

  /** Streams that were started and have not ended. 0 after a test, or something leaked. */
  get openStreams(): number {
    return this.#openStreams
  }

  /**
   * Throws unless all steps were used and no call was made beyond the script.
   * @throws ScriptError that lists the unused steps and the extra calls
   * @throws ScriptError that lists the steps nobody asked for, and calls beyond the script.
   */
  assertDone(): void {
    if (typeof this.#steps === 'function') return
    const { length } = this.#requests
    if (length > this.#steps.length) throw this.#beyondScript(this.#requests[this.#steps.length]!)
    if (length === this.#steps.length) return
    const unused = this.#steps
      .slice(length)
      .map((step, index) => `  ${length + index + 1}: ${describeStep(step)}`)
    throw new ScriptError(
      `scriptedClient: ${unused.length} of ${this.#steps.length} steps were not used:\n${unused.join('\n')}`,
    )
  }

  override async respond(request: ChatRequest): Promise<ChatResponse> {
    const { reply, defaults, signal } = await this.#next(request, false)
    if (!isScriptedStream(reply)) return toScriptedResponse(reply, defaults)
    const updates: ChatResponseUpdate[] = []
    for await (const update of this.#play(reply, defaults, signal)) updates.push(update)
    return foldUpdates(updates)
  }

  override async *stream(
    request: ChatRequest,
  ): AsyncGenerator<ChatResponseUpdate, void, undefined> {
    this.#openStreams++
    try {
      const { reply, defaults, signal } = await this.#next(request, true)
      const script = isScriptedStream(reply)
        ? reply
        : {
            updates: cutResponse(
              toScriptedResponse(reply, defaults),
              this.#options.chunk ?? 'word',
            ),
          }
      yield* this.#play(script, defaults, signal)
    } finally {
      this.#openStreams--
    }
  }

  async #next(
    request: ChatRequest,
    stream: boolean,
  ): Promise<{
    reply: Exclude<ScriptedReply, Error>
    defaults: ReplyDefaults
    signal: AbortSignal
  }> {
    const { signal } = request
    signal.throwIfAborted()
    checkChatOptions(request.options)
    const recorded = this.#record(request, stream)
    const step = typeof this.#steps === 'function' ? this.#steps : this.#steps[recorded.index]
    if (step === undefined) throw this.#beyondScript(recorded)
    const made = typeof step === 'function' ? step(recorded) : step
    const reply = await abortable(made, signal)
    if (reply instanceof Error) throw reply
    return { reply, defaults: this.#defaults(recorded), signal }
  }

  async *#play(
    script: ScriptedStream,
    defaults: ReplyDefaults,
    signal: AbortSignal,
  ): AsyncGenerator<ChatResponseUpdate, void, undefined> {
    const { clock = systemClock } = this.#options
    for (const update of toScriptedUpdates(script, defaults)) {
      if (script.delayMs !== undefined) {
        await abortable(clock.sleep(script.delayMs, signal), signal)
      }
      signal.throwIfAborted()
      yield update
    }
    signal.throwIfAborted()
    if (script.hang === true) await untilAborted(signal)
    if (script.error !== undefined) throw script.error
  }

  #record(request: ChatRequest, stream: boolean): ScriptedRequest {
    const { messages, instructions, options, signal } = request
    const recorded: ScriptedRequest = Object.freeze({
      index: this.#requests.length,
      stream,
      messages: frozenCopy(messages),
      instructions,
      options: Object.freeze({ ...options }),
      signal,
    })
    this.#requests.push(recorded)
    return recorded
  }

  #defaults({ index, options }: ScriptedRequest): ReplyDefaults {
    const prefix = this.#idPrefix
    return {
      id: `${prefix}response_${index + 1}`,
      messageId: `${prefix}msg_${index + 1}`,
      model: options.model ?? this.model ?? 'scripted',
      usage: this.#options.usage ?? smallUsage,
      nextCallId: () => `${prefix}call_${++this.#callIds}`,
    }
  }

  #beyondScript({ index, messages, options }: ScriptedRequest): ScriptError {
    const steps = typeof this.#steps === 'function' ? '' : ` (the script has ${this.#steps.length})`
    const last = messages.at(-1)
    const asked =
      last === undefined
        ? 'no message'
        : `${last.role}: ${describe(last.contents, messageText(last))}`
    const tools = options.tools?.map(({ name }) => name).join(', ')
    return new ScriptError(
      `scriptedClient: call ${index + 1} has no step${steps}; it asked ${asked}` +
        (tools === undefined ? '' : `, with the tools ${tools}`),
    )
  }
}

const smallUsage: Usage = Object.freeze({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })

function describeStep(step: ScriptedStep): string {
  if (typeof step === 'function') return `a function ${step.name}`.trimEnd()
  if (step instanceof Error) return `the error "${step.message}"`
  return describe(step, typeof step === 'string' ? step : '')
}

function describe(value: unknown, text: string): string {
  const shown = text === '' ? JSON.stringify(value) : `"${text}"`
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown
}
