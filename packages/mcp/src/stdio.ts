import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpCustomServer, McpProtocol } from './connection/mcp-server.ts'

/** Options of `stdio`. */
export interface StdioOptions {
  /** The program. It is started without a shell. */
  readonly command: string
  /**
   * Arguments of the program.
   * @default []
   */
  readonly args?: readonly string[] | undefined
  /**
   * Environment variables besides `PATH`, `HOME` and similar ones. No others of this process are
   * passed.
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /**
   * Working directory.
   * @default that of this process
   */
  readonly cwd?: string | undefined
  /**
   * Destination of the server's log.
   * @default 'inherit'
   */
  readonly stderr?: 'inherit' | 'ignore' | undefined
  /**
   * `auto` tries the revision of 2026 first, with a second process that is then ended.
   * @default 'legacy'
   */
  readonly protocol?: McpProtocol | undefined
}

/**
 * Starts a server as a child process and connects to its standard input and output. It runs from
 * its first use until the connection is closed.
 *
 * @example
 * ```ts
 * import { mcpTools } from '@lamella/mcp'
 * import { stdio } from '@lamella/mcp/stdio'
 *
 * // Starts the process with the first run.
 * const files = mcpTools(stdio({ command: 'mcp-server-filesystem', args: ['/srv/docs'] }))
 * ```
 * @throws TypeError that names the option and the value
 */
export function stdio(options: StdioOptions): McpCustomServer {
  checkOptions('stdio', options, {
    command: 'string',
    args: 'any',
    env: 'any',
    cwd: 'string?',
    stderr: ['inherit', 'ignore'],
    protocol: ['auto', 'legacy'],
  })
  const { command, args = [], env = {}, cwd, stderr = 'inherit', protocol } = options
  if (!Array.isArray(args)) throw wrongOption('stdio', 'args', 'a list of strings', args)
  const transport = (): StdioClientTransport =>
    new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      stderr,
      ...(cwd !== undefined && { cwd }),
    })
  return { transport, protocol }
}
