import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { simpleAnswer } from './simple-answer.ts'
import { Exchange } from './exchange.ts'
import type { ModelServerOptions } from './model-server-options.ts'
import type { ModelServerRequest } from './model-server-request.ts'

/** A running server. */
export interface ModelServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** Value for `baseURL` of an OpenAI client: `url` with `/v1`. */
  readonly baseURL: string
  /** Requests so far, in order. */
  readonly requests: readonly ModelServerRequest[]
  /** Ends all connections and frees the port. */
  close(): Promise<void>
}

/**
 * Starts an HTTP server on loopback for OpenAI's Chat Completions and Responses protocols, plain
 * and streaming. It is not a language model but a deterministic stand-in, and says so in its model
 * id, in the header `x-lamella-stand-in`, and when asked.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, failures = [], onRequest, answer = simpleAnswer } = options
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
