import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, vi } from 'vitest'
import type { RawServer } from '../../packages/testing/src/raw-server.ts'

// Machines that are busy close connections late, not never.
export const patience = { timeout: 4000, interval: 5 }

const { setTimeout, clearTimeout } = globalThis
const working = new AsyncLocalStorage<LeakWatch>()

/** Requests that must have arrived: as many as this, or up to as many. */
export type Arrivals = number | { readonly atMost: number }

/** Sees what the calls of a test leave behind: open requests, connections, timers, listeners. */
export class LeakWatch {
  /** The responses of the server, in the order in which requests came. */
  readonly served: ServerResponse[] = []
  /** Requests of the HTTP client that have not ended yet. */
  readonly #held = new Set<object>()
  /** Connections that the HTTP client takes for open. */
  readonly #connected = new Set<Socket>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #server: RawServer
  #http: Server | undefined
  readonly #channels: Record<string, (message: never) => void> = {
    'undici:request:create': ({ request }: { request: { origin: string } }) => {
      if (this.#server.url.startsWith(request.origin)) this.#held.add(request)
    },
    'undici:request:trailers': ({ request }: { request: object }) => this.#held.delete(request),
    'undici:request:error': ({ request }: { request: object }) => this.#held.delete(request),
    'undici:client:connected': ({ socket }: { socket: Socket }) => {
      if (String(socket.remotePort) !== new URL(this.#server.url).port) return
      this.#connected.add(socket)
      socket.once('close', () => this.#connected.delete(socket))
    },
    'http.server.request.start': (arrived: { server: Server; response: ServerResponse }) => {
      this.#http = arrived.server
      this.served.push(arrived.response)
    },
  }

  constructor(server: RawServer) {
    this.#server = server
    for (const [name, listen] of Object.entries(this.#channels)) {
      subscribe(name, listen as () => void)
    }
  }

  stop(): void {
    for (const [name, listen] of Object.entries(this.#channels)) {
      unsubscribe(name, listen as () => void)
    }
  }

  /** Begins anew, and counts the timers that this work starts, not those of other tests in this process. */
  async during(work: () => Promise<void>): Promise<void> {
    for (const known of [this.#held, this.#timers]) known.clear()
    this.served.length = 0
    const timers = this.#timers
    globalThis.setTimeout = ((
      call: (...given: unknown[]) => void,
      ms: number,
      ...given: unknown[]
    ) => {
      if (working.getStore() !== this) return setTimeout(call, ms, ...given)
      const timer = setTimeout(() => {
        timers.delete(timer)
        call(...given)
      }, ms)
      timers.add(timer)
      return timer
    }) as typeof setTimeout
    globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
      timers.delete(timer)
      clearTimeout(timer)
    }) as typeof clearTimeout
    try {
      await working.run(this, work)
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout })
    }
  }

  /** Waits until as many requests as this have arrived and nothing is left of any. */
  async nothingIsLeft(signal: AbortSignal, requests: Arrivals): Promise<void> {
    await vi.waitFor(() => {
      const { length } = this.served
      const isExpected =
        typeof requests === 'number' ? length === requests : length <= requests.atMost
      expect({
        arrived: isExpected ? requests : length,
        open: this.served.filter(({ closed }) => !closed).length,
        held: this.#held.size,
        timers: [...this.#timers].filter((timer) => timer.hasRef()).length,
        listeners: getEventListeners(signal, 'abort').length,
      }).toEqual({ arrived: requests, open: 0, held: 0, timers: 0, listeners: 0 })
    }, patience)
    const http = this.#http
    if (http === undefined) return
    await vi.waitFor(async () => {
      // Again each time: one that has just been used is not idle yet.
      http.closeIdleConnections()
      const count = await new Promise((resolve) => http.getConnections((_, all) => resolve(all)))
      // The client learns a moment later, and must not send the next request on a connection that is gone.
      expect([count, this.#connected.size]).toEqual([0, 0])
    }, patience)
  }
}
