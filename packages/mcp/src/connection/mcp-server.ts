import type { AuthProvider, OAuthClientProvider, Transport } from '@modelcontextprotocol/client'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { McpClient } from './mcp-client.ts'

/** A server over HTTP. */
export interface McpHttpServer {
  /** Address of the endpoint: `https`, unless it is on this machine or `allowHttp` is set. */
  readonly url: string | URL
  /** Headers of every request to the server, or a function that is called for each. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined
  /** Gets and refreshes tokens: the provider interface of the official SDK. */
  readonly authProvider?: AuthProvider | OAuthClientProvider | undefined
  /**
   * Sends requests, those for authorization included.
   * @default the global `fetch`
   */
  readonly fetch?: typeof fetch | undefined
  /**
   * Permits `http` to another machine, as within a private network.
   * @default false
   */
  readonly allowHttp?: boolean | undefined
  /**
   * `auto` tries the revision of 2026 first, which costs a request; `legacy` uses only the older
   * revisions.
   * @default 'auto'
   */
  readonly protocol?: McpProtocol | undefined
}

/** A server behind any transport of the SDK, such as `stdio()` or your own. */
export interface McpCustomServer {
  /** Creates a transport for each connection. It must not be started yet. */
  readonly transport: () => Transport | Promise<Transport>
  /**
   * `auto` tries the revision of 2026 first.
   * @default 'legacy'
   */
  readonly protocol?: McpProtocol | undefined
}

/** Revisions of the protocol that are offered to a server. */
export type McpProtocol = 'auto' | 'legacy'

/**
 * A server, and the way to reach it. Your own connected client is used unchanged: it is not
 * reopened when its connection is lost, and it answers questions of the server itself.
 */
export type McpServer = McpHttpServer | McpCustomServer | McpClient

/** Recognizes a connected client. */
export function isClient(server: McpServer): server is McpClient {
  return 'request' in server && typeof server.request === 'function'
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkServer(server: McpServer): void {
  const owner = 'mcpTools: server'
  if (typeof server !== 'object' || server === null) {
    throw wrongOption('mcpTools', 'server', 'an object', server)
  }
  if (isClient(server)) return
  const protocol = ['auto', 'legacy']
  if ('url' in server) {
    checkOptions(owner, server, {
      url: 'any',
      headers: 'any',
      authProvider: 'any',
      fetch: 'function?',
      allowHttp: [true, false],
      protocol,
    })
    checkAddress(server)
  } else {
    checkOptions(owner, server, { transport: 'function', protocol })
  }
}

function checkAddress({ url: given, allowHttp = false }: McpHttpServer): void {
  const url = URL.parse(String(given))
  if (url === null) throw wrongOption('mcpTools: server', 'url', 'an absolute URL', String(given))
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && (isLocal || allowHttp))) return
  // The query of an address may hold a key.
  const shown = `${url.protocol}//${url.host}`
  const wish = '`https`, or `http` on this machine or with `allowHttp`'
  throw wrongOption('mcpTools: server', 'url', wish, shown)
}
