import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer as standInAnswer } from './answer.ts'
import type { ModelAnswer, ModelConversation } from './model-conversation.ts'
import { Exchange } from './exchange.ts'
import type { ModelServerFailure } from './model-server-failure.ts'
import type { ModelServerRequest } from './model-server-request.ts'

export type {
  ModelAnswer,
  ModelCall,
  ModelConversation,
  ModelTurn,
  ModelUsage,
  OfferedTool,
} from './model-conversation.ts'
export type { ModelServerFailure } from './model-server-failure.ts'
export type { ModelServerRequest } from './model-server-request.ts'
export { scenarioServer } from './scenario-server.ts'

export interface ModelServerOptions {
  /**
   * On 127.0.0.1.
   * @default 0: a free one
   */
  readonly port?: number | undefined
  /**
   * What goes wrong, by the order in which requests arrive: those without an entry are answered.
   * @default nothing
   */
  readonly failures?:
    | readonly (ModelServerFailure | undefined)[]
    | ((request: ModelServerRequest) => ModelServerFailure | undefined)
    | undefined
  /**
   * Milliseconds before an answer begins.
   * @default 0
   */
  readonly latencyMs?: number | undefined
  /**
   * Milliseconds between the events of a stream.
   * @default 0
   */
  readonly chunkDelayMs?: number | undefined
  /**
   * Characters of text or arguments in one event.
   * @default 12
   */
  readonly chunkChars?: number | undefined
  /**
   * Bytes in one write to the socket, to split events and characters anywhere.
   * @default an event a write
   */
  readonly writeBytes?: number | undefined
  /**
   * Requests without it are answered with status 401.
   * @default any key, or none, will do
   */
  readonly apiKey?: string | undefined
  /** Is told of each request before it is answered. */
  readonly onRequest?: ((request: ModelServerRequest) => void) | undefined
  /**
   * Answers in place of the stand-in.
   * @default words of the question decide which tool is called and what is quoted
   */
  readonly answer?:
    | ((
        conversation: ModelConversation,
        request: ModelServerRequest,
      ) => ModelAnswer | Promise<ModelAnswer>)
    | undefined
}

/** A running server. */
export interface ModelServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** What an OpenAI client takes as `baseURL`: `url` with `/v1`. */
  readonly baseURL: string
  /** What arrived so far, in order. */
  readonly requests: readonly ModelServerRequest[]
  /** Ends all connections and frees the port. */
  close(): Promise<void>
}

/**
 * Starts an HTTP server on loopback that speaks OpenAI's Chat Completions and Responses protocols,
 * plain and streaming. Behind it is no language model but a deterministic stand-in, and it says so:
 * in its model id, in the header `x-lamella-stand-in`, and when it is asked.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, failures = [], onRequest, answer = standInAnswer } = options
  const requests: ModelServerRequest[] = []
  const stored = new Map<string, readonly unknown[]>()

  const server = createServer((incoming, outgoing) => {
    const exchange = new Exchange(incoming, outgoing, {
      latencyMs: options.latencyMs ?? 0,
      chunkDelayMs: options.chunkDelayMs ?? 0,
      chunkChars: options.chunkChars ?? 12,
      writeBytes: options.writeBytes,
      apiKey: options.apiKey,
      stored,
      answer,
      arrived(request) {
        requests.push(request)
        onRequest?.(request)
        return typeof failures === 'function' ? failures(request) : failures[request.index]
      },
      index: () => requests.length,
    })
    void exchange.run()
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: actualPort } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${actualPort}`
  let closed: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closed ??= new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }))

  return { url, baseURL: `${url}/v1`, requests, close, [Symbol.asyncDispose]: close }
}
