import type { ChatContext } from '@lamella/core'
import type { ChatClient, ChatOptions } from '@lamella/core'

/** A client that calls may be routed to. */
export interface RouteEntry {
  /** The client. */
  readonly client: ChatClient
  /**
   * Name in events, for rules and for `classify`.
   * @default the client's name, otherwise its provider, with its model: `openai/gpt-5`
   */
  readonly name?: string | undefined
  /**
   * Model to request.
   * @default the client's own
   */
  readonly model?: string | undefined
  /** Options merged over those of the call. */
  readonly options?: ChatOptions | undefined
  /**
   * Share of the calls beside the weights of the others, for `weight` and `load`.
   * @default 1
   */
  readonly weight?: number | undefined
  /**
   * Decides whether this client may take a call.
   * @default always
   */
  readonly when?: ((context: ChatContext) => boolean | Promise<boolean>) | undefined
}

/** Knowledge of `route` about a client at the time of its choice. */
export interface RouteCandidate {
  /** Name of the entry. */
  readonly name: string
  /** The entry. */
  readonly entry: RouteEntry
  /** Calls that are running. */
  readonly running: number
  /**
   * Milliseconds that recent calls took: until the first content of streamed ones, or for whole plain ones. Fades
   * with a half-life of a minute, so that a slow client is tried again. Undefined before the first call.
   */
  readonly latencyMs: number | undefined
}

/** Failures in a row after which a client is set aside. */
const maxFailures = 3
/** Weight of the newest measurement. */
const newest = 0.4
const halfLifeMs = 60_000

interface Latency {
  readonly ms: number
  readonly at: number
}

/** Knowledge of this process about one client. */
export class RouteServer {
  readonly name: string
  readonly entry: RouteEntry
  readonly weight: number
  running = 0
  /** Credit of the smooth weighted round robin. */
  credit = 0
  #failures = 0
  #asideUntil = 0
  readonly #latencies: Partial<Record<'plain' | 'streamed', Latency>> = {}

  constructor(name: string, entry: RouteEntry) {
    this.name = name
    this.entry = entry
    this.weight = entry.weight ?? 1
  }

  isAside(now: number): boolean {
    return now < this.#asideUntil
  }

  /** Describes this client for a rule. */
  candidate(kind: 'plain' | 'streamed', now: number): RouteCandidate {
    const { name, entry, running } = this
    const known = this.#latencies[kind]
    const latencyMs = known && known.ms * 0.5 ** ((now - known.at) / halfLifeMs)
    return { name, entry, running, latencyMs }
  }

  measured(kind: 'plain' | 'streamed', ms: number, now: number): void {
    const before = this.#latencies[kind]?.ms ?? ms
    this.#latencies[kind] = { ms: before + newest * (ms - before), at: now }
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** One that fails again and again is set aside for a while; after that, each failure sets it aside again. */
  failed(now: number, asideMs: number): void {
    this.#failures++
    if (this.#failures >= maxFailures) this.refused(now, asideMs)
  }

  /** It takes no call for a while. */
  refused(now: number, ms: number): void {
    this.#asideUntil = Math.max(this.#asideUntil, now + ms)
  }
}
