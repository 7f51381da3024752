import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { expect, vi } from 'vitest'
import type { RawServer } from '../../packages/testing/src/raw-server.ts'

// Machines that are busy close connections late, not never.
export const patienceMs = 4000

const { setTimeout, clearTimeout } = globalThis

/** Sees what the calls of a test leave behind: open requests, connections, timers, listeners. */
export class LeakWatch {
  /** The responses of the server, in the order in which requests came. */
  readonly served: ServerResponse[] = []
  /** Requests of the HTTP client that have not ended yet. */
  readonly #held = new Set<object>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #server: RawServer
  #http: Server | undefined
  readonly #channels: Record<string, (message: never) => void> = {
    'undici:request:create': ({ request }: { request: { origin: string } }) => {
      if (this.#server.url.startsWith(request.origin)) this.#held.add(request)
    },
    'undici:request:trailers': ({ request }: { request: object }) => this.#held.delete(request),
    'undici:request:error': ({ request }: { request: object }) => this.#held.delete(request),
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

  /** Begins anew, and counts timers from now on. */
  begin(): void {
    for (const known of [this.#held, this.#timers]) known.clear()
    this.served.length = 0
    const timers = this.#timers
    globalThis.setTimeout = ((
      work: (...given: unknown[]) => void,
      ms: number,
      ...given: unknown[]
    ) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        work(...given)
      }, ms)
      timers.add(timer)
      return timer
    }) as typeof setTimeout
    globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
      timers.delete(timer)
      clearTimeout(timer)
    }) as typeof clearTimeout
  }

  end(): void {
    Object.assign(globalThis, { setTimeout, clearTimeout })
  }

  /** Waits until as many requests as this have arrived and nothing is left of any. */
  async nothingIsLeft(signal: AbortSignal, requests: number): Promise<void> {
    await vi.waitFor(() => {
      expect({
        arrived: this.served.length,
        open: this.served.filter(({ closed }) => !closed).length,
        held: this.#held.size,
        timers: [...this.#timers].filter((timer) => timer.hasRef()).length,
        listeners: getEventListeners(signal, 'abort').length,
      }).toEqual({ arrived: requests, open: 0, held: 0, timers: 0, listeners: 0 })
    }, patienceMs)
    const http = this.#http
    if (http === undefined) return
    await vi.waitFor(async () => {
      // Again each time: one that has just been used is not idle yet.
      http.closeIdleConnections()
      const count = await new Promise((resolve) => http.getConnections((_, all) => resolve(all)))
      expect(count).toBe(0)
    }, patienceMs)
    // The client learns a moment later, and must not send the next request on a connection that is gone.
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
}
