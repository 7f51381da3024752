import type {
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  FinishReason,
  FunctionCallContent,
  ClientMiddlewareInput,
} from '@lamella/core'
import { BaseChatClient, chatResponse, createId, text } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { toBody } from './wire-request.ts'
import { cutShort, networkError, statusError } from './wire-error.ts'

export interface YourChatClientOptions {
  readonly model: string
  /** Base URL of your provider's API. */
  readonly baseURL: string
  readonly apiKey?: string | undefined
  readonly middleware?: ClientMiddlewareInput | undefined
}

/** One line of a streamed answer. Without streaming, the answer is a single line that has everything. */
interface WireLine {
  readonly text?: string
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly done?: boolean
  readonly usage?: { readonly input: number; readonly output: number }
}

/**
 * A chat client for your provider. The protocol here is lines of JSON over HTTP; replace it with that of
 * your provider.
 * @throws TypeError that names the option
 */
export class YourChatClient extends BaseChatClient {
  readonly provider = 'your-provider'
  readonly #options: YourChatClientOptions

  constructor(options: YourChatClientOptions) {
    checkOptions('YourChatClient', options, {
      model: 'string',
      baseURL: 'string',
      apiKey: 'any',
      middleware: 'any',
    })
    super({ model: options.model, middleware: options.middleware })
    this.#options = options
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const answer = await this.#send(request, false)
    const line = await answer.json().catch((error: unknown) => {
      request.signal.throwIfAborted()
      throw networkError(error)
    })
    const { done, usage } = line as WireLine
    if (done !== true) throw cutShort()
    const contents = contentsOf(line as WireLine)
    return chatResponse({
      messages: [{ role: 'assistant', contents, origin: { provider: this.provider } }],
      finishReason: finishOf(contents),
      usage: usageOf(usage),
      model: request.options.model ?? this.model,
    })
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatResponseUpdate, void> {
    const answer = await this.#send(request, true)
    const messageId = createId('msg')
    let called = false
    let done = false
    try {
      for await (const line of linesOf(answer.body!, request.signal)) {
        const contents = contentsOf(line)
        called ||= (line.calls?.length ?? 0) > 0
        done ||= line.done === true
        yield {
          contents,
          role: 'assistant',
          messageId,
          model: request.options.model ?? this.model,
          ...(line.usage && { usage: usageOf(line.usage) }),
          ...(line.done && { finishReason: called ? 'tool-calls' : 'stop' }),
        }
      }
    } catch (error) {
      request.signal.throwIfAborted()
      throw networkError(error)
    }
    // A stream without its last line was cut off.
    if (!done) throw cutShort()
  }

  async #send({ signal, ...request }: ChatRequest, stream: boolean): Promise<Response> {
    const { apiKey, baseURL, model } = this.#options
    let answer: Response
    try {
      answer = await fetch(`${baseURL}/chat`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(toBody(request, model, stream)),
        signal,
      })
    } catch (error) {
      signal.throwIfAborted()
      throw networkError(error)
    }
    if (answer.ok) return answer
    await answer.body?.cancel()
    throw statusError(answer.status, answer.headers)
  }
}

function contentsOf({ text: words, calls = [] }: WireLine) {
  const said = words === undefined || words === '' ? [] : [text(words)]
  const called = calls.map(
    ({ id, name, arguments: args }): FunctionCallContent => ({
      type: 'function-call',
      callId: id,
      name,
      arguments: args,
    }),
  )
  return [...said, ...called]
}

function finishOf(contents: readonly { readonly type: string }[]): FinishReason {
  return contents.some(({ type }) => type === 'function-call') ? 'tool-calls' : 'stop'
}

function usageOf(usage: WireLine['usage']) {
  if (usage === undefined) return {}
  const { input, output } = usage
  return { inputTokens: input, outputTokens: output, totalTokens: input + output }
}

/**
 * Yields the lines of a body as they arrive, and closes the connection when the reader stops. If your
 * provider sends a `text/event-stream`, use `readEventStream` of `@lamella/transport` instead.
 */
async function* linesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted()
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as WireLine
  }
}
