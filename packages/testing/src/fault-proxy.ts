import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/**
 * Fault of a network: none; nothing arrives; every connection breaks; requests arrive, but each
 * connection breaks before the reply; or garbage replaces the reply.
 */
export type NetworkFault = 'none' | 'hang' | 'refuse' | 'lose-replies' | 'garbage'

/**
 * A TCP proxy in front of a database, whose network fails on command.
 * @example
 * const proxy = await FaultProxy.start({ port: 6379 })
 * const url = `redis://127.0.0.1:${proxy.port}`
 * proxy.fault = 'hang'
 * await proxy.close()
 */
export class FaultProxy {
  /** Number of replies that were lost. */
  lost = 0
  readonly #server: Server
  readonly #links = new Set<readonly [Socket, Socket]>()
  #fault: NetworkFault = 'none'

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens on a free port of this machine and passes everything on to `host` and `port`. */
  static async start(target: {
    readonly port: number
    readonly host?: string | undefined
  }): Promise<FaultProxy> {
    const { port, host = '127.0.0.1' } = target
    const server = createServer((client) => proxy.#link(client, connect({ port, host })))
    const proxy = new FaultProxy(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** Port to connect to. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Fault of the network, from now on. Setting `refuse`, or ending `hang` or `garbage`, breaks what is connected. */
  get fault(): NetworkFault {
    return this.#fault
  }

  set fault(fault: NetworkFault) {
    const breaks = fault === 'refuse' || ['hang', 'garbage'].includes(this.#fault)
    this.#fault = fault
    if (breaks) this.#break()
  }

  /** Breaks all connections, and listens no longer. */
  async close(): Promise<void> {
    this.#break()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #link(client: Socket, server: Socket): void {
    const link = [client, server] as const
    this.#links.add(link)
    const end = (): void => {
      this.#links.delete(link)
      client.destroy()
      server.destroy()
    }
    for (const socket of link) {
      socket.on('close', end)
      socket.on('error', end)
    }
    if (this.#fault === 'refuse') end()
    client.on('data', (chunk) => {
      if (this.#fault !== 'hang') server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (this.#fault === 'none') client.write(chunk)
      if (this.#fault === 'garbage') client.write(garbage)
      if (this.#fault !== 'lose-replies') return
      this.lost++
      end()
    })
  }

  #break(): void {
    for (const [client, server] of this.#links) {
      client.destroy()
      server.destroy()
    }
  }
}

/** Bytes that begin no reply of any database. */
const garbage = Uint8Array.from({ length: 64 }, (_, at) => (at * 37 + 129) % 256)
