import type { KeyValueStore, PendingRequest } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import type { Clock, ListItem } from '@lamella/core/authoring'
import { checkOptions, checkStore, systemClock, withinStoreTime } from '@lamella/core/authoring'
import { storeNamespace, storePrefix } from './store-namespace.ts'
import { whenStored } from './when-stored.ts'

/** Options of `requests`. */
export interface RequestsOptions {
  /** Prefix of the keys. @default 'requests' */
  readonly name?: string | undefined
  /** Milliseconds for which a request, and then its answer, is kept. @default 2592000000 */
  readonly ttlMs?: number | undefined
  /** Open requests of one tenant that are kept; beyond that, the oldest are no longer listed. @default 10000 */
  readonly maxOpen?: number | undefined
  /** Milliseconds between two reads of a watcher, in a store without `signals`. @default 500 */
  readonly pollMs?: number | undefined
  /** Milliseconds to wait for the store; then a call rejects with `store_timeout`. @default 5000 */
  readonly storeTimeoutMs?: number | undefined
  /** Source of time. @default the clock of this machine */
  readonly clock?: Clock | undefined
}

/** Owner and place of requests. */
export interface RequestFacts {
  /** Tenant of the run. @default none */
  readonly tenant?: string | undefined
  /** User of the run. @default none */
  readonly principal?: string | undefined
  /** Tells your application which run waits, such as the id of a chat or of a job. @default none */
  readonly place?: string | undefined
  /** Milliseconds after which a request expires without an answer. @default never */
  readonly expiresAfterMs?: number | undefined
}

/** A request of a paused run that waits for a decision. */
export interface OpenRequest {
  /** Id of the request, for its answer. */
  readonly id: string
  /** Kind of request. */
  readonly kind: PendingRequest['kind']
  /** Name of the tool. Undefined for an interrupt. */
  readonly tool?: string | undefined
  /** Arguments of the call as the model wrote them, JSON text. Undefined for an interrupt. */
  readonly arguments?: string | undefined
  /** Value that was passed to `run.interrupt`. */
  readonly payload?: unknown
  /** Names of the tools through which a sub-agent asks. */
  readonly path?: readonly string[] | undefined
  /** Tenant of the run. */
  readonly tenant?: string | undefined
  /** User of the run. */
  readonly principal?: string | undefined
  /** Place of the run, as your application named it. */
  readonly place?: string | undefined
  /** Time at which it was opened, in milliseconds. */
  readonly openedAt: number
  /** Time at which it expires, in milliseconds. */
  readonly expiresAt?: number | undefined
  /** The person who decides about it, and until when nobody else may. */
  readonly claim?:
    | {
        /** The person. */
        readonly by: string
        /** End of the claim, in milliseconds. */
        readonly until: number
      }
    | undefined
}

/** The end of a request. */
export interface ClosedRequest {
  /** `answered` by somebody, `expired` by its time, or `withdrawn` with its run. */
  readonly end: 'answered' | 'expired' | 'withdrawn'
  /** Answer, as `agent.resume` takes it. Undefined for `withdrawn`. */
  readonly answer?: unknown
  /** Person who answered. */
  readonly by?: string | undefined
  /** Time of the end, in milliseconds. */
  readonly at: number
}

/** Options of `OpenRequests.list`. */
export interface RequestListOptions extends Pick<RequestFacts, 'principal' | 'tenant'> {
  /** Name of a tool. @default all */
  readonly tool?: string | undefined
  /** Requests that have been open for as many milliseconds. @default 0 */
  readonly olderThanMs?: number | undefined
  /** Requests of a page. @default 50 */
  readonly limit?: number | undefined
  /** `next` of the page before. @default the beginning */
  readonly after?: ListItem | undefined
}

/** A page of open requests. */
export interface RequestPage {
  /** The requests, the latest first. */
  readonly requests: readonly OpenRequest[]
  /** Pass it as `after` for the next page. Missing at the end. */
  readonly next?: ListItem
}

/** A change of what is open. */
export type RequestChange =
  | {
      readonly type: 'opened'
      /** The new request. */
      readonly request: OpenRequest
    }
  | ({
      readonly type: 'closed'
      /** The request that is not open any more. */
      readonly request: OpenRequest
    } & Partial<ClosedRequest>)

/** The open requests, across runs and processes. */
export interface OpenRequests {
  /** Opens the requests of a paused run. Those that are open keep their time. */
  open(pending: readonly PendingRequest[], facts?: RequestFacts): Promise<void>
  /** Lists open requests of a tenant, the latest first. A page may hold fewer than `limit`. */
  list(options?: RequestListOptions): Promise<RequestPage>
  /** Resolves to an open request, or `undefined`. */
  get(id: string, tenant?: string): Promise<OpenRequest | undefined>
  /**
   * Reserves a request for a person; false if another has it, or it is not open. The same person may renew it.
   */
  claim(
    id: string,
    options: { readonly by: string; readonly tenant?: string | undefined; readonly forMs?: number },
  ): Promise<boolean>
  /**
   * Closes a request with its answer. Of all who answer, in any process, one succeeds.
   * @throws LamellaError `approval_used` if it is not open, or claimed by another
   */
  answer(
    id: string,
    answer: unknown,
    options?: { readonly by?: string | undefined; readonly tenant?: string | undefined },
  ): Promise<OpenRequest>
  /** Closes requests whose run does not wait any more. */
  withdraw(ids: readonly string[], tenant?: string): Promise<void>
  /**
   * Closes the requests of a tenant whose time is over, with a refusal. Resolves to those that this call has
   * closed, for their runs to continue.
   */
  expire(
    tenant?: string,
  ): Promise<readonly { readonly request: OpenRequest; readonly answer: unknown }[]>
  /** Resolves to the end of a request, as soon as it has one. */
  ended(
    id: string,
    options?: { readonly tenant?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<ClosedRequest>
  /** Yields what opens and closes, beginning with what is open. Ends with the signal. */
  changes(options: {
    readonly tenant?: string | undefined
    readonly signal: AbortSignal
  }): AsyncGenerator<RequestChange, void>
}

interface Entry {
  readonly request: OpenRequest
  readonly closed?: ClosedRequest
}

/**
 * Keeps open requests of paused runs in a store, so that people see and answer them in one list, from any process.
 * The store needs `lists`. Those who wait hear of a change at once where it has `signals`.
 * @throws TypeError or RangeError that names the option and the value
 *
 * @example
 * ```ts
 * import { Agent, memoryStore, tool } from '@lamella/core'
 * import { requests } from '@lamella/store'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const open = requests(memoryStore())
 * const pay = tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 'paid' })
 * const agent = new Agent({ client: scriptedClient([callFunction('pay', {}), 'Done.']), tools: [pay] })
 *
 * const paused = await agent.run('Pay.')
 * await open.open(paused.pending, { principal: 'ann' })
 * const [request] = (await open.list({ tool: 'pay' })).requests
 * await open.answer(request!.id, true, { by: 'the manager' })
 * const { answer } = await open.ended(request!.id)
 * console.log((await agent.resume(paused.checkpoint!, { [request!.id]: answer })).text) // Done.
 * ```
 */
export function requests(store: KeyValueStore, options: RequestsOptions = {}): OpenRequests {
  checkOptions('requests', options, {
    name: 'string?',
    ttlMs: 1,
    maxOpen: 1,
    pollMs: 1,
    storeTimeoutMs: 'ms',
    clock: 'any',
  })
  checkStore('requests', store, ['lists'])
  const { name = 'requests', ttlMs = 2_592_000_000, maxOpen = 10_000, pollMs } = options
  const { storeTimeoutMs: timeoutMs = 5000, clock = systemClock } = options
  const placeOf = (tenant?: string): KeyValueStore => storeNamespace(store, { name, tenant })
  const channelOf = (tenant?: string): string => storePrefix({ name, tenant })
  const inTime = <Value>(work: Promise<Value>): Promise<Value> =>
    withinStoreTime(work, { clock, timeoutMs })
  const read = async (id: string, tenant?: string): Promise<Entry | undefined> =>
    (await inTime(placeOf(tenant).get(id))) as Entry | undefined
  const tell = (tenant?: string): void =>
    // Whoever misses the note reads the store all the same.
    void store.signals?.send(channelOf(tenant), '').catch(() => {})

  /** Changes an open request in one step; undefined if it is not open, or `next` refuses. */
  const change = async (
    id: string,
    tenant: string | undefined,
    next: (request: OpenRequest) => Entry | undefined,
  ): Promise<OpenRequest | undefined> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const found = await read(id, tenant)
      const entry = found === undefined || found.closed ? undefined : next(found.request)
      if (entry === undefined) return undefined
      // oxlint-disable-next-line no-await-in-loop
      if (!(await inTime(placeOf(tenant).compareAndSet(id, found, entry, { ttlMs })))) continue
      if (entry.closed !== undefined) {
        // oxlint-disable-next-line no-await-in-loop
        await inTime(placeOf(tenant).lists!.remove('open', id))
      }
      tell(tenant)
      return found!.request
    }
  }

  const page = async ({
    tenant,
    principal,
    tool,
    olderThanMs = 0,
    limit = 50,
    after,
  }: RequestListOptions = {}): Promise<RequestPage> => {
    const items = await inTime(placeOf(tenant).lists!.range('open', { limit, after }))
    const entries = await Promise.all(items.map(({ item }) => read(item, tenant)))
    const latest = clock.now() - olderThanMs
    const found = entries.flatMap((entry) => (entry && !entry.closed ? [entry.request] : []))
    const next = items.length === limit ? items.at(-1) : undefined
    return {
      requests: found.filter(
        (request) =>
          (principal === undefined || request.principal === principal) &&
          (tool === undefined || request.tool === tool) &&
          request.openedAt <= latest,
      ),
      ...(next && { next }),
    }
  }

  const everything = async (tenant?: string): Promise<OpenRequest[]> => {
    const all: OpenRequest[] = []
    let after: ListItem | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop
      const { requests: some, next } = await page({ tenant, limit: 200, after })
      all.push(...some)
      after = next
    } while (after !== undefined)
    return all
  }

  return {
    async open(pending, { tenant, principal, place, expiresAfterMs } = {}) {
      const openedAt = clock.now()
      for (const asked of pending) {
        const call = asked.kind === 'approval' ? asked.request.call : undefined
        const { name: tool, arguments: text } =
          call ?? Object(asked.kind === 'function-call' && asked.call)
        const { id, kind, path } = asked
        const request: OpenRequest = {
          id,
          kind,
          tool,
          arguments: text,
          path,
          tenant,
          principal,
          place,
          openedAt,
          payload: asked.kind === 'interrupt' ? asked.payload : undefined,
          expiresAt: expiresAfterMs === undefined ? undefined : openedAt + expiresAfterMs,
        }
        const entry = JSON.parse(JSON.stringify({ request })) as Entry
        // oxlint-disable-next-line no-await-in-loop
        const found = await read(id, tenant)
        if (found !== undefined && found.closed === undefined) continue
        const { lists } = placeOf(tenant)
        // Listed first: an id without an entry is skipped, the other way round a request is lost.
        // oxlint-disable-next-line no-await-in-loop
        await inTime(lists!.add('open', id, openedAt, { keep: maxOpen }))
        // oxlint-disable-next-line no-await-in-loop
        await inTime(placeOf(tenant).compareAndSet(id, found, entry, { ttlMs }))
      }
      tell(tenant)
    },
    list: page,
    async get(id, tenant) {
      const entry = await read(id, tenant)
      return entry?.closed === undefined ? entry?.request : undefined
    },
    async claim(id, { by, tenant, forMs = 60_000 }) {
      const claimed = await change(id, tenant, (request) => {
        const { claim } = request
        const isTaken = claim !== undefined && claim.by !== by && claim.until > clock.now()
        return isTaken
          ? undefined
          : { request: { ...request, claim: { by, until: clock.now() + forMs } } }
      })
      return claimed !== undefined
    },
    async answer(id, answer, { by, tenant } = {}) {
      const at = clock.now()
      const answered = await change(id, tenant, (request) => {
        const { claim } = request
        if (claim !== undefined && claim.by !== by && claim.until > at) return undefined
        return { request, closed: { end: 'answered', answer, at, ...(by !== undefined && { by }) } }
      })
      if (answered !== undefined) return answered
      const problem = 'the request is not open, or another person decides about it'
      throw new LamellaError(`requests: ${problem}`, { code: 'approval_used' })
    },
    async withdraw(ids, tenant) {
      const closed: ClosedRequest = { end: 'withdrawn', at: clock.now() }
      await Promise.all(ids.map((id) => change(id, tenant, (request) => ({ request, closed }))))
    },
    async expire(tenant) {
      const now = clock.now()
      const due = (await everything(tenant)).filter(({ expiresAt = Infinity }) => expiresAt <= now)
      const ended = await Promise.all(
        due.map(async (request) => {
          const answer = expiredAnswer(request)
          const closed: ClosedRequest = { end: 'expired', answer, at: now }
          const isMine = await change(request.id, tenant, (found) => ({ request: found, closed }))
          return isMine === undefined ? [] : [{ request, answer }]
        }),
      )
      return ended.flat()
    },
    ended: (id, { tenant, signal } = {}) =>
      whenStored(store, {
        channel: channelOf(tenant),
        pollMs,
        signal,
        clock,
        read: async () => {
          const entry = await read(id, tenant)
          return entry === undefined ? { end: 'withdrawn', at: clock.now() } : entry.closed
        },
      }),
    async *changes({ tenant, signal }) {
      let known = new Map<string, OpenRequest>()
      const isNews = async (): Promise<OpenRequest[] | undefined> => {
        const now = await everything(tenant)
        const isSame = now.length === known.size && now.every(({ id }) => known.has(id))
        return isSame ? undefined : now
      }
      while (!signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop
        const found = await whenStored(store, {
          channel: channelOf(tenant),
          read: isNews,
          pollMs,
          signal,
          clock,
        }).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
        if (found === undefined) return
        const now = new Map(found.map((request) => [request.id, request]))
        const before = known
        known = now
        for (const request of found.toReversed()) {
          if (!before.has(request.id)) yield { type: 'opened', request }
        }
        for (const request of before.values()) {
          if (now.has(request.id)) continue
          // oxlint-disable-next-line no-await-in-loop
          yield { type: 'closed', request, ...(await read(request.id, tenant))?.closed }
        }
      }
    },
  }
}

const late = 'nobody answered in time'

/**
 * Returns the answer to a request that nobody has answered in time: nothing runs, and the model reads why.
 *
 * @example
 * ```ts
 * import { expiredAnswer } from '@lamella/store'
 *
 * console.log(expiredAnswer({ kind: 'approval' })) // { approved: false, reason: 'nobody answered in time' }
 * ```
 */
export function expiredAnswer({ kind }: Pick<PendingRequest, 'kind'>): unknown {
  if (kind === 'approval') return { approved: false, reason: late }
  return kind === 'interrupt' ? { expired: true, reason: late } : `Error: ${late}`
}
