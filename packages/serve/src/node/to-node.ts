import type { Handler } from '../chats/guarded-handler.ts'
import { readRest } from '../http/drop-body.ts'

/**
 * The parts of a Node request that are read, also of an Express request or `request.raw` of
 * Fastify.
 */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  /** Method, such as `POST`. */
  readonly method?: string | undefined
  /** Address without the host. */
  readonly url?: string | undefined
  /** Original address, before a router of Express shortened it. */
  readonly originalUrl?: string | undefined
  /** Headers by lowercase name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** A body that was parsed before, such as by `express.json()`. */
  readonly body?: unknown
  /** Socket of the connection. */
  readonly socket?: object | null | undefined
}

/** The parts of a Node response that are written. */
export interface NodeResponse {
  /** True once the headers were sent. */
  readonly headersSent: boolean
  /** True once everything was handed to the system. */
  readonly writableFinished: boolean
  /** True once the connection is gone. */
  readonly destroyed: boolean
  /** Status of the response. */
  statusCode: number
  /** Sets a header. */
  setHeader(name: string, value: string | readonly string[]): unknown
  /** Sends the headers at once. */
  flushHeaders?(): void
  /** Flushes a compressing middleware. */
  flush?(): void
  /** Sends bytes; false if they are buffered. */
  write(chunk: Uint8Array): boolean
  /** Ends the response. */
  end(): unknown
  /** Closes the connection. */
  destroy(): unknown
  /** Calls back once. */
  once(event: 'drain' | 'close', listener: () => void): unknown
}

/** Request and reply of Fastify; their raw objects are used. */
interface Wrapped<Raw> {
  readonly raw?: Raw
  readonly body?: unknown
  hijack?(): void
}

/**
 * Converts a handler to a listener for Node: for `http.createServer`, Express and Fastify. A body
 * that was parsed before is used unchanged, and a closed connection cancels the request.
 *
 * @example
 * ```ts
 * import { toNode } from '@lamella/serve'
 *
 * const listener = toNode(async () => new Response('Hello.'))
 * console.log(typeof listener) // function
 * ```
 */
export function toNode(
  handler: Handler,
): (
  request: NodeRequest | Wrapped<NodeRequest>,
  response: NodeResponse | Wrapped<NodeResponse>,
) => void {
  if (typeof handler !== 'function') {
    throw new TypeError(
      'toNode: pass a handler, such as `sseHandler(chatService(agent, { principal }))`',
    )
  }
  const serve = async (
    request: NodeRequest | Wrapped<NodeRequest>,
    response: NodeResponse | Wrapped<NodeResponse>,
  ): Promise<void> => {
    const given = request as Wrapped<NodeRequest>
    const reply = response as Wrapped<NodeResponse>
    const incoming = given.raw ?? (request as NodeRequest)
    const outgoing = reply.raw ?? (response as NodeResponse)
    if (reply.raw !== undefined) reply.hijack?.()
    const abort = new AbortController()
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) abort.abort(new Error('the client closed the connection'))
    })
    const asked = requestOf(incoming, given.body, abort.signal)
    if (asked === undefined) {
      outgoing.statusCode = 400
      outgoing.end()
      return
    }
    try {
      await write(await handler(asked), outgoing, abort.signal)
    } catch {
      // A handler answers failures itself; this is a bug in it, or the client disconnected.
      if (outgoing.destroyed) return
      if (outgoing.headersSent) {
        outgoing.destroy()
        return
      }
      outgoing.statusCode = 500
      outgoing.end()
    }
  }
  return (request, response) => void serve(request, response)
}

/** Returns the address of a request. Undefined if its host is none. */
function addressOf({ headers, socket, originalUrl, url }: NodeRequest): URL | undefined {
  const { encrypted } = (socket ?? {}) as { readonly encrypted?: boolean }
  const protocol = encrypted === true ? 'https' : 'http'
  const host = headers['host'] ?? 'localhost'
  const path = originalUrl ?? url ?? '/'
  const address = `${protocol}://${String(host)}${path.startsWith('/') ? path : '/'}`
  return URL.canParse(address) ? new URL(address) : undefined
}

/** Returns undefined for a host that is none, and for a method or a header that no web request may have. */
function requestOf(from: NodeRequest, parsed: unknown, signal: AbortSignal): Request | undefined {
  const url = addressOf(from)
  try {
    return url && toRequest(from, url, parsed, signal)
  } catch {
    return undefined
  }
}

function toRequest(from: NodeRequest, url: URL, parsed: unknown, signal: AbortSignal): Request {
  const { method = 'GET', headers } = from
  const list = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || value === undefined) continue
    for (const one of typeof value === 'string' ? [value] : value) list.append(name, one)
  }
  const init: RequestInit & { duplex?: 'half' } = { method, headers: list, signal }
  if (method === 'GET' || method === 'HEAD') return new Request(url, init)
  if (parsed !== undefined && parsed !== null) {
    const isText = typeof parsed === 'string' || parsed instanceof Uint8Array
    init.body = isText ? (parsed as string) : JSON.stringify(parsed)
    list.delete('content-length')
    return new Request(url, init)
  }
  const chunks = from[Symbol.asyncIterator]()
  init.duplex = 'half'
  // Node drops a body of which nothing was read, so that the connection serves the next request.
  init.body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(new Uint8Array(value))
      },
      cancel() {
        discard(chunks).catch(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Request(url, init)
}

/** Reads the rest of a refused body, which is in the way of the next request. A long or slow rest ends the connection. */
async function discard(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  if (!(await readRest(() => chunks.next()))) await chunks.return?.()
}

async function write(response: Response, to: NodeResponse, signal: AbortSignal): Promise<void> {
  const { body } = response
  const reader = body?.getReader()
  const leave = (): void => void reader?.cancel(signal.reason).catch(() => undefined)
  if (signal.aborted) {
    leave()
    return
  }
  signal.addEventListener('abort', leave, { once: true })
  to.statusCode = response.status
  const cookies = response.headers.getSetCookie()
  for (const [name, value] of response.headers) if (name !== 'set-cookie') to.setHeader(name, value)
  if (cookies.length > 0) to.setHeader('set-cookie', cookies)
  if (reader === undefined) {
    to.end()
    return
  }
  to.flushHeaders?.()
  // A body that fails while the connection takes nothing leaves nothing to wait for.
  reader.closed.catch(() => to.destroy())
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const { done, value } = await reader.read()
    if (done) break
    const isTaken = to.write(value)
    to.flush?.()
    // oxlint-disable-next-line no-await-in-loop
    if (!isTaken) await drained(to, signal)
  }
  if (!signal.aborted) to.end()
}

function drained(to: NodeResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    to.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
