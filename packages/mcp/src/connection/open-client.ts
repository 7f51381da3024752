import type {
  Client,
  ClientCapabilities,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import { LamellaError } from '@lamella/core'
import { statusOf } from './lost-connection.ts'
import type { McpCustomServer, McpHttpServer } from './mcp-server.ts'

/** Settings of a new connection, besides its server. */
export interface ClientSetup {
  /** Name of the server, for messages. */
  readonly name: string
  readonly capabilities: ClientCapabilities
  /** Sets handlers of requests that come from the server. */
  readonly prepare: (client: Client) => void
  /** Called when the server's tools may have changed. */
  readonly onToolsChanged: () => void
  /** Called when the connection is gone, whoever ended it. */
  readonly onClosed: (client: Client) => void
  readonly signal: AbortSignal
  /** Bytes of the longest answer. */
  readonly maxBodyBytes: number
  /** Told of a transport before it connects. */
  readonly onTransport: (transport: HttpTransport) => void
}

/** A transport that can finish an authorization. */
export type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport

type OwnServer = McpHttpServer | McpCustomServer

/** Connects to a server. The SDK is loaded by the first connection. */
export async function openClient(server: OwnServer, setup: ClientSetup): Promise<Client> {
  if ('url' in server) return openHttp(server, setup)
  return connect(await server.transport(), server.protocol ?? 'legacy', setup)
}

async function openHttp(server: McpHttpServer, setup: ClientSetup): Promise<Client> {
  const sdk = await import('@modelcontextprotocol/client')
  const url = new URL(server.url)
  const { authProvider } = server
  const send = guardedFetch(url, server, setup.name)
  const options = {
    fetch: async (input: string | URL, init?: RequestInit): Promise<Response> =>
      readable(await send(input, init), setup.maxBodyBytes, () => void transport?.close()),
    ...(authProvider !== undefined && { authProvider }),
  }
  let transport: HttpTransport | undefined
  const streamable = new sdk.StreamableHTTPClientTransport(url, options)
  transport = streamable
  setup.onTransport(streamable)
  try {
    return await connect(streamable, server.protocol ?? 'auto', setup)
  } catch (error) {
    const status = statusOf(error)
    if (error instanceof sdk.UnauthorizedError || status === 401 || status === 403) {
      throw new LamellaError(`the MCP server "${setup.name}" asks for authorization`, {
        code: 'mcp_unauthorized',
        cause: error,
      })
    }
    if (status === undefined || status >= 500) throw error
    const events = new sdk.SSEClientTransport(url, options)
    transport = events
    setup.onTransport(events)
    // What says more of the two: most such servers are simply no servers of this protocol.
    return connect(events, 'legacy', setup).catch(() => Promise.reject(error as Error))
  }
}

async function connect(
  transport: Transport,
  mode: 'auto' | 'legacy',
  setup: ClientSetup,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const { capabilities, signal } = setup
  const client = new Client(
    { name: 'lamella', version: '1.0.0' },
    {
      capabilities,
      versionNegotiation: { mode },
      listChanged: { tools: { autoRefresh: false, onChanged: setup.onToolsChanged } },
    },
  )
  setup.prepare(client)
  try {
    await client.connect(transport, { signal })
    signal.throwIfAborted()
  } catch (error) {
    await transport.close().catch(() => {})
    throw signal.aborted ? signal.reason : error
  }
  return Object.assign(client, { onclose: () => setup.onClosed(client) })
}

/** A response as the SDK reads it: of limited length, and without what it refuses a message for. */
function readable(response: Response, most: number, onTooLong: () => void): Response {
  const { body, status, statusText, headers } = response
  if (body === null) return response
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  const counted = body.pipeThrough(limit(isStream, most, onTooLong))
  const text = counted.pipeThrough(new TextDecoderStream()).pipeThrough(withoutNullMeta())
  return new Response(text.pipeThrough(new TextEncoderStream()), { status, statusText, headers })
}

/**
 * Counts a body while it is read: one event of a stream, or the whole answer, may have this many bytes. A longer
 * one fails, and `onTooLong` ends what waits for it.
 */
function limit(
  isStream: boolean,
  most: number,
  onTooLong: () => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let last = 0
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        bytes++
        // An empty line ends an event.
        if (isStream && byte === newline && last === newline) bytes = 0
        if (byte !== carriageReturn) last = byte
      }
      if (bytes <= most) {
        controller.enqueue(chunk)
        return
      }
      controller.error(new Error(`the MCP server sent more than ${most} bytes`))
      onTooLong()
    },
  })
}

/**
 * Servers write `null` for a `_meta` that they do not have, and the SDK drops the whole message, which may be the
 * result of a call that has run. Goes by lines: in a text of JSON, the quotes would be escaped.
 */
function withoutNullMeta(): TransformStream<string, string> {
  const mended = (text: string): string => text.replaceAll(/"_meta"\s*:\s*null/g, '"_meta":{}')
  let line: string[] = []
  return new TransformStream({
    transform(text, controller) {
      const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
      line.push(text.slice(0, end || undefined))
      if (end === 0) return
      controller.enqueue(mended(line.join('')))
      line = [text.slice(end)]
    },
    flush(controller) {
      controller.enqueue(mended(line.join('')))
    },
  })
}

const newline = 10
const carriageReturn = 13

/**
 * Sends the server's headers to the server, and to no other origin, such as that of an authorization server. A
 * server names such addresses itself, so one of a public server reaches no address that only a private network has.
 */
function guardedFetch(
  server: URL,
  { headers = {}, fetch: send = fetch, allowHttp = false }: McpHttpServer,
  name: string,
): (input: string | URL, init?: RequestInit) => Promise<Response> {
  const mayGoInside = allowHttp || isInside(server.hostname)
  return async (input, init = {}) => {
    const { origin, protocol, hostname } = new URL(input)
    if (origin !== server.origin) {
      if (mayGoInside || (protocol === 'https:' && !isInside(hostname))) return send(input, init)
      throw new LamellaError(
        `the MCP server "${name}" names an address for its authorization that is not a public one of \`https\``,
        { code: 'mcp_unauthorized' },
      )
    }
    const own = new Headers(typeof headers === 'function' ? await headers() : headers)
    new Headers(init.headers).forEach((value, header) => own.set(header, value))
    return send(input, { ...init, headers: own })
  }
}

/** True for an IP address, and for a name that only this machine or a private network has. */
function isInside(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  return /^(?:\[|[\d.]+$)/.test(host) || !host.includes('.') || insideNames.test(host)
}

const insideNames =
  /\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/
