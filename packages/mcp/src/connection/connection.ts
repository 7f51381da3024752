import { LamellaError } from '@lamella/core'
import { callLater, systemClock, unlessAborted } from '@lamella/core/authoring'
import { lossOf } from './lost-connection.ts'
import type { McpClient } from './mcp-client.ts'
import type { McpServer } from './mcp-server.ts'
import { isClient } from './mcp-server.ts'
import type { ClientSetup, HttpTransport } from './open-client.ts'
import { openClient } from './open-client.ts'

/** Settings of a connection. */
export interface ConnectionSetup
  extends Pick<
    ClientSetup,
    'name' | 'capabilities' | 'prepare' | 'onToolsChanged' | 'maxBodyBytes'
  > {
  readonly connectTimeoutMs: number
  readonly onOpened: () => void
  readonly onLost: () => void
}

interface Opening {
  readonly client: Promise<McpClient>
  readonly stop: AbortController
}

/** First and longest wait in milliseconds until an unreachable server is tried again. */
const firstPauseMs = 500
const longestPauseMs = 30_000

/**
 * The connection to a server: opened by its first use, shared by all runs, reopened when it is
 * lost.
 */
export class Connection {
  readonly #server: McpServer
  readonly #setup: ConnectionSetup
  #opening: Opening | undefined
  /** Times that the application closed it. */
  #closings = 0
  #failures = 0
  #failed: { readonly error: LamellaError; readonly until: number } | undefined
  #transport: HttpTransport | undefined

  constructor(server: McpServer, setup: ConnectionSetup) {
    this.#server = server
    this.#setup = setup
  }

  /** True if it is opened here, and opened again when it is lost. */
  get isOwn(): boolean {
    return !isClient(this.#server)
  }

  /**
   * The open client. Several callers wait for one opening, each until its own signal aborts.
   * @throws LamellaError `mcp_unavailable`, or `mcp_unauthorized`
   */
  client(signal: AbortSignal): Promise<McpClient> {
    signal.throwIfAborted()
    if (isClient(this.#server)) return Promise.resolve(this.#server)
    if (this.#opening === undefined) {
      const failed = this.#failed
      if (failed !== undefined && performance.now() < failed.until) {
        return Promise.reject(failed.error)
      }
      this.#opening = this.#open()
    }
    return unlessAborted(signal, this.#opening.client)
  }

  /**
   * Runs `work` with the open client. If the connection is lost, opens another one and runs `work`
   * again, provided that nothing was sent or that `canRepeat` allows it.
   * @throws LamellaError `mcp_connection_lost`, or what `work` throws
   */
  async use<Result>(
    signal: AbortSignal,
    canRepeat: boolean,
    work: (client: McpClient) => Promise<Result>,
  ): Promise<Result> {
    const closings = this.#closings
    for (let attempt = 1; ; attempt++) {
      const client = await this.client(signal)
      try {
        return await work(client)
      } catch (error) {
        const loss = signal.aborted ? undefined : lossOf(error)
        if (loss === undefined) throw error
        await this.#drop(client)
        const isSafe = canRepeat || loss === 'unsent'
        if (isSafe && attempt === 1 && this.isOwn && closings === this.#closings) continue
        const known = isSafe ? '' : '; it is not known whether the call took effect'
        throw new LamellaError(
          `the connection to the MCP server "${this.#setup.name}" was lost${known}`,
          { code: 'mcp_connection_lost', cause: error },
        )
      }
    }
  }

  /** Exchanges the code of a redirect for tokens. The next use of the server connects with them. */
  async finishAuth(redirect: URLSearchParams): Promise<void> {
    if (this.#transport === undefined) {
      throw new LamellaError(`the MCP server "${this.#setup.name}" did not ask for authorization`, {
        code: 'mcp_unauthorized',
      })
    }
    await this.#transport.finishAuth(redirect)
    this.#failed = undefined
  }

  /** Ends the connection, and a process that was started for it. A later use opens it again. */
  async close(): Promise<void> {
    if (isClient(this.#server)) return
    this.#closings++
    this.#opening?.stop.abort(new LamellaError('the connection was closed', { code: 'aborted' }))
    await this.#end()
  }

  /** Discards a client whose connection is lost, so that the next use opens another one. */
  async #drop(client: McpClient): Promise<void> {
    const current = await this.#opening?.client.catch(() => undefined)
    if (current !== client) return
    const opening = this.#opening
    this.#opening = undefined
    this.#transport = undefined
    this.#setup.onLost()
    await opening?.client.then((lost) => lost.close()).catch(() => {})
  }

  async #end(): Promise<void> {
    const opening = this.#opening
    const transport = this.#transport
    this.#opening = undefined
    this.#transport = undefined
    const client = await opening?.client.catch(() => undefined)
    if (client === undefined) return
    if (transport !== undefined && 'terminateSession' in transport) await endSession(transport)
    await client.close().catch(() => {})
  }

  #open(): Opening {
    const stop = new AbortController()
    const client = this.#connect(stop).then(
      (opened) => {
        this.#failures = 0
        this.#failed = undefined
        this.#setup.onOpened()
        return opened
      },
      (cause: unknown) => {
        const error = this.#failure(cause)
        if (this.#opening?.stop === stop) {
          // Only the attempt at hand counts: a closed connection may be opened at once.
          this.#opening = undefined
          this.#failed = { error, until: performance.now() + this.#pauseMs(error) }
        }
        throw error
      },
    )
    return { client, stop }
  }

  async #connect(stop: AbortController): Promise<McpClient> {
    const { connectTimeoutMs } = this.#setup
    const stopTimer = callLater(systemClock, connectTimeoutMs, () => {
      stop.abort(new Error(`it did not answer within ${connectTimeoutMs} ms`))
    })
    const opening = openClient(this.#server as Exclude<McpServer, McpClient>, {
      ...this.#setup,
      signal: stop.signal,
      onTransport: (transport) => {
        this.#transport = transport
      },
      onClosed: (client) => void this.#closed(client),
    })
    try {
      return await unlessAborted(stop.signal, opening)
    } finally {
      stopTimer()
    }
  }

  async #closed(client: McpClient): Promise<void> {
    const current = await this.#opening?.client.catch(() => undefined)
    if (current !== client) return
    this.#opening = undefined
    this.#setup.onLost()
  }

  #failure(cause: unknown): LamellaError {
    if (LamellaError.is(cause, 'mcp_unauthorized')) return cause
    return new LamellaError(`the MCP server "${this.#setup.name}" cannot be reached`, {
      code: 'mcp_unavailable',
      cause,
    })
  }

  #pauseMs({ code }: LamellaError): number {
    if (code === 'mcp_unauthorized') return 0
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs)
    return pauseMs * (0.5 + Math.random() / 2)
  }
}

/** Ends the session at the server, so that it is not kept. The server has a second to answer. */
async function endSession(transport: { terminateSession(): Promise<void> }): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 1000)
  })
  await Promise.race([transport.terminateSession().catch(() => {}), enough])
  clearTimeout(timer)
}
