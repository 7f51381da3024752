import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { AuthInfo, McpServerFactory } from '@modelcontextprotocol/server'
import { createMcpHandler } from '@modelcontextprotocol/server'

declare global {
  /** Version 1 of the SDK takes it from the types of browsers. */
  type HeadersInit = NonNullable<RequestInit['headers']>
}

export interface LocalHttp extends AsyncDisposable {
  readonly url: string
  /** Ends all connections that are open. */
  readonly breakOff: () => void
  readonly requests: { readonly method: string; readonly headers: IncomingMessage['headers'] }[]
}

/** A server on a free port of this machine. */
export async function listen(listener: RequestListener, path = '/mcp'): Promise<LocalHttp> {
  const requests: LocalHttp['requests'] = []
  const server: Server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', headers: request.headers })
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}`,
    requests,
    breakOff: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Serves the SDK's version 2, in both eras, to a caller that `authOf` has verified. */
export function serve(make: McpServerFactory, authOf?: () => AuthInfo): Promise<LocalHttp> {
  const handle = toNodeHandler(createMcpHandler(make)) as RequestListener
  return listen((request, response) =>
    handle(Object.assign(request, authOf && { auth: authOf() }), response),
  )
}

/** A server of the SDK's version 1 with sessions. `forget()` loses them, as a restart does. */
export function sessionServer(make: () => McpServer): {
  listener: RequestListener
  forget(): void
} {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await make().connect(transport)
    return transport
  }
  return {
    forget: () => sessions.clear(),
    listener: (request, response) => {
      const id = request.headers['mcp-session-id']
      if (typeof id === 'string' && !sessions.has(id)) {
        response.writeHead(404, { 'content-type': 'application/json' })
        response.end(
          '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}',
        )
        return
      }
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      void (async () => (known ?? (await open())).handleRequest(request, response))()
    },
  }
}

/** A server of the oldest revision: events by GET, messages by POST to another address. */
export function eventServer(make: () => McpServer): RequestListener {
  const transports = new Map<string, SSEServerTransport>()
  return (request, response) => {
    const url = new URL(request.url ?? '', 'http://local')
    void (async () => {
      if (request.method === 'GET') {
        const transport = new SSEServerTransport('/messages', response)
        transports.set(transport.sessionId, transport)
        await make().connect(transport)
      } else if (url.pathname === '/messages') {
        const id = url.searchParams.get('sessionId') ?? ''
        await transports.get(id)?.handlePostMessage(request, response)
      } else response.writeHead(405).end()
    })()
  }
}

/** A server of the SDK's version 1 that says what it was told. */
export function echoServer(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1' })
  server.registerTool('echo', { description: 'Says it again.' }, () => ({
    content: [{ type: 'text', text: 'echo' }],
  }))
  return server
}
