import {
  checkOptions,
  systemClock,
  isObject,
  takeTurn,
  keepClaims,
  checkStore,
  withinStoreTime,
  createSecretId,
  wrongOption,
} from '@lamella/core/authoring'
import type { Clock, SessionReference, ListItem } from '@lamella/core/authoring'
import { LamellaError, createSession, forkSession } from '@lamella/core'
import type { Session, SessionSnapshot, KeyValueStore } from '@lamella/core'
import { storeNamespace, storePrefix } from './store-namespace.ts'
import { mergeSessions } from './merge-sessions.ts'

/** Owner of sessions. */
export interface SessionOwner {
  /** Tenant of the session. Sessions of other tenants are out of reach. @default no tenant */
  readonly tenant?: string | undefined
  /**
   * User of the session. A session that was saved for another user counts as missing.
   * @default not checked
   */
  readonly principal?: string | undefined
}

/** Options of `sessions`. */
export interface SessionsOptions {
  /**
   * Milliseconds after the last save until a session expires.
   * @default it never expires
   */
  readonly ttlMs?: number | undefined
  /**
   * Prefix of the keys. Another prefix separates another kind of sessions.
   * @default 'sessions'
   */
  readonly name?: string | undefined
  /**
   * Reaction of a save to another save since the session was loaded: reject with `session_conflict`, or
   * merge the new messages into the other save. A merge that would lose something rejects as well.
   * @default 'reject'
   */
  readonly onConflict?: 'reject' | 'merge' | undefined
  /**
   * Sessions of one principal that `list` knows; the least recently saved are no longer listed.
   * @default 10000
   */
  readonly maxListed?: number | undefined
  /**
   * Milliseconds to wait for the store; then the call rejects with `store_timeout`.
   * @default 5000
   */
  readonly storeTimeoutMs?: number | undefined
  /** Source of time. @default the clock of this machine */
  readonly clock?: Clock | undefined
}

/** Options of `Sessions.list`. */
export interface SessionListOptions extends SessionOwner {
  /** Number of sessions of a page. @default 20 */
  readonly limit?: number | undefined
  /** `next` of the page before. @default the beginning */
  readonly after?: ListItem | undefined
}

/** A page of a list of sessions. */
export interface SessionPage {
  /** Ids and times of the last save in milliseconds, the latest first. */
  readonly sessions: readonly { readonly id: string; readonly savedAt: number }[]
  /** Pass it as `after` for the next page. Missing at the end. */
  readonly next?: ListItem | undefined
}

/** Keeps conversations between runs. */
export interface Sessions {
  /** Resolves to a session, or `undefined` if there is none for this owner. */
  load(id: string, owner?: SessionOwner): Promise<Session | undefined>
  /**
   * Resolves to a session, or a new empty one.
   * @throws LamellaError `session_unknown` if it belongs to another principal
   */
  open(id: string, owner?: SessionOwner): Promise<Session>
  /**
   * Returns a reference to a session, or to a new empty one, for `agent.run(input, { session })`:
   * the run loads it when it begins and saves it when it ends, also when it fails. Runs of one
   * session in this process run one after the other, and each begins with the state that the
   * previous one saved.
   */
  at(id: string, owner?: SessionOwner): SessionReference
  /**
   * Saves a session. Its owner is that of `load` or `open`; pass one for a session that you
   * created, such as from a snapshot.
   * @throws LamellaError `session_conflict` if it was saved
   * elsewhere since it was loaded
   */
  save(session: Session, owner?: SessionOwner): Promise<void>
  /** Lists the sessions of a principal, the last saved first. Needs a store with lists. */
  list(options?: SessionListOptions): Promise<SessionPage>
  /** Deletes a session. A missing session, or one of another principal, is no error. */
  delete(id: string, owner?: SessionOwner): Promise<void>
  /**
   * Saves a copy with a new id, up to the message `until` if that is given.
   * @throws LamellaError `session_unknown` if there is no such session
   */
  fork(
    id: string,
    options?: SessionOwner & { readonly until?: string | undefined },
  ): Promise<Session>
}

/** A session in the store. */
interface Entry {
  readonly version: 1
  readonly principal?: string | undefined
  readonly savedAt: number
  readonly session: SessionSnapshot
}

/** State of a session that was loaded or saved here. */
interface Known {
  readonly owner: SessionOwner
  /** The save that the session continues, if it was loaded or saved here. */
  base?: SessionSnapshot | undefined
  /** A save with an unknown outcome. */
  attempted?: SessionSnapshot | undefined
}

/**
 * Keeps sessions in a store, by tenant and principal. The second of two saves that continue the same one
 * rejects or is merged; nothing is overwritten.
 * @example
 * const chats = sessions(memoryStore())
 * const session = await chats.open('chat-1', { tenant: 'acme', principal: 'ada' })
 * await agent.run('Hello!', { session })
 * await chats.save(session)
 * // The same, by the run itself:
 * await agent.run('Hello!', { session: chats.at('chat-1', { tenant: 'acme', principal: 'ada' }) })
 * await chats.list({ tenant: 'acme', principal: 'ada' })
 * @throws TypeError or RangeError that names the option and the value
 */
export function sessions(store: KeyValueStore, options: SessionsOptions = {}): Sessions {
  checkOptions('sessions', options, {
    ttlMs: 1,
    name: 'string?',
    onConflict: ['reject', 'merge'],
    maxListed: 1,
    storeTimeoutMs: 'ms',
    clock: 'any',
  })
  checkStore('sessions', store)
  const { ttlMs, name = 'sessions', onConflict = 'reject', maxListed = 10_000 } = options
  const { storeTimeoutMs = 5000, clock = systemClock } = options
  const known = new WeakMap<Session, Known>()
  const know = (session: Session, about: Known): void => {
    known.set(session, about)
    keepClaims(session, { store, storeTimeoutMs })
  }
  const turns = new Map<string, Promise<void>>()
  const storeKey = (owner: SessionOwner | undefined): string | undefined =>
    owner && storePrefix({ name, tenant: owner.tenant })
  const inTime = <T>(work: Promise<T>, signal?: AbortSignal): Promise<T> =>
    withinStoreTime(work, { clock, timeoutMs: storeTimeoutMs, signal })
  const placeOf = ({ tenant }: SessionOwner): KeyValueStore =>
    storeNamespace(store, { name, tenant })

  const read = async (
    id: string,
    owner: SessionOwner,
    signal?: AbortSignal,
  ): Promise<Entry | undefined> => {
    const entry = await inTime(placeOf(owner).get(checkedId(id)), signal)
    if (entry === undefined) return undefined
    if (!isEntry(entry) || entry.session.id !== id) {
      throw new LamellaError(`sessions: the entry of "${id}" is no session`, {
        code: 'session_invalid',
      })
    }
    return entry
  }

  const sessionOf = (entry: Entry, owner: SessionOwner): Session => {
    const session = createSession(entry.session)
    know(session, { owner: { ...owner, principal: entry.principal }, base: entry.session })
    return session
  }

  const load: Sessions['load'] = async (id, owner = {}) => {
    const entry = await read(id, owner)
    return entry !== undefined && belongsTo(entry, owner) ? sessionOf(entry, owner) : undefined
  }

  const openUnlessAborted = async (
    id: string,
    owner: SessionOwner,
    signal?: AbortSignal,
  ): Promise<Session> => {
    const entry = await read(id, owner, signal)
    if (entry !== undefined && !belongsTo(entry, owner)) throw unknown(id, 'open')
    if (entry !== undefined) return sessionOf(entry, owner)
    const fresh = createSession({ id })
    know(fresh, { owner })
    return fresh
  }

  const save: Sessions['save'] = async (session, given) => {
    const about = known.get(session) ?? { owner: { ...given } }
    know(session, about)
    const { owner } = about
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const entry = await read(session.id, owner)
      if (entry !== undefined && !belongsTo(entry, owner)) throw conflict(session.id)
      const { attempted } = about
      if (attempted !== undefined && attempted.revision === entry?.session.revision) {
        about.base = attempted
        session.revision = attempted.revision
      }
      const mine = session.toJSON()
      const next = joined(about, mine, entry?.session)
      if (next === undefined) throw conflict(session.id)
      // Listed first: a session that is listed and not there is skipped, the other way round it is lost.
      // oxlint-disable-next-line no-await-in-loop
      await note(session.id, owner)
      const saved = { ...next, revision: createSecretId('revision') }
      about.attempted = saved
      const { principal } = owner
      const written: Entry = { version: 1, principal, savedAt: clock.now(), session: saved }
      // oxlint-disable-next-line no-await-in-loop
      if (!(await inTime(placeOf(owner).compareAndSet(session.id, entry, written, { ttlMs })))) {
        continue
      }
      Object.assign(about, { base: saved, attempted: undefined })
      session.revision = saved.revision
      if (next !== mine) take(session, saved)
      return
    }
  }

  /** Resolves a conflict: the session that a save writes, or `undefined` where one would be lost. */
  const joined = (
    { base }: Known,
    mine: SessionSnapshot,
    theirs: SessionSnapshot | undefined,
  ): SessionSnapshot | undefined => {
    const revision = theirs?.revision
    if (mine.revision === revision) return mine
    // Saved as it is by now: who saved it may have died before it could tell.
    if (JSON.stringify({ ...mine, revision }) === JSON.stringify(theirs)) return mine
    return onConflict === 'merge' && theirs ? mergeSessions(base, mine, theirs) : undefined
  }

  const note = async (id: string, owner: SessionOwner): Promise<void> => {
    const { lists } = placeOf(owner)
    if (lists === undefined) return
    await inTime(lists.add(listOf(owner), id, clock.now(), { ttlMs, keep: maxListed }))
  }

  return {
    load,
    open: (id, owner = {}) => openUnlessAborted(id, owner),
    at: (id, owner = {}) => ({
      id: checkedId(id),
      async enter({ around, signal }) {
        const shared = around.find(
          (session) => session.id === id && storeKey(known.get(session)?.owner) === storeKey(owner),
        )
        if (shared !== undefined) return { session: shared, async leave() {} }
        const end = await takeTurn(turns, `${storeKey(owner)}${id}`, signal)
        try {
          const session = await openUnlessAborted(id, owner, signal)
          const before = JSON.stringify(session)
          return {
            session,
            async leave() {
              try {
                if (JSON.stringify(session) !== before) await save(session)
              } finally {
                end()
              }
            },
          }
        } catch (error) {
          end()
          throw error
        }
      },
    }),
    save,
    async list({ limit = 20, after, ...owner } = {}) {
      checkStore('sessions.list', store, ['lists'])
      const items = await inTime(placeOf(owner).lists!.range(listOf(owner), { limit, after }))
      const oldest = ttlMs === undefined ? -Infinity : clock.now() - ttlMs
      return {
        sessions: items
          .filter(({ score }) => score > oldest)
          .map(({ item, score }) => ({ id: item, savedAt: score })),
        ...(items.length === limit && { next: items.at(-1) }),
      }
    },
    async delete(id, owner = {}) {
      const entry = await read(id, owner)
      if (entry === undefined || !belongsTo(entry, owner)) return
      const place = placeOf(owner)
      await inTime(place.delete(id))
      if (place.lists !== undefined) await inTime(place.lists.remove(listOf(entry), id))
    },
    async fork(id, { until, ...owner } = {}) {
      const session = await load(id, owner)
      if (session === undefined) throw unknown(id, 'fork')
      const copy = forkSession(session, until === undefined ? {} : { until })
      await save(copy, known.get(session)!.owner)
      return copy
    },
  }
}

/** The id, which must be one: everybody without an id would share a session. */
function checkedId(id: string): string {
  if (typeof id !== 'string' || id === '')
    throw wrongOption('sessions', 'id', 'a string that is not empty', id)
  return id
}

function conflict(id: string): LamellaError {
  return new LamellaError(
    `sessions: session "${id}" was saved by somebody else since it was loaded; load it again`,
    { code: 'session_conflict' },
  )
}

function unknown(id: string, action: string): LamellaError {
  return new LamellaError(`sessions: there is no session "${id}" to ${action}`, {
    code: 'session_unknown',
  })
}

function belongsTo(entry: Entry, { principal }: SessionOwner): boolean {
  return principal === undefined || entry.principal === principal
}

function listOf({ principal }: SessionOwner): string {
  return principal === undefined ? 'sessions' : `sessions:${principal}`
}

/** Gives a session what others had saved. */
function take(session: Session, merged: SessionSnapshot): void {
  const { messages, pending } = merged
  Object.assign(session, { messages, pending })
  const fresh = createSession(merged).state
  for (const name of Object.keys(session.state)) delete session.state[name]
  for (const [name, value] of Object.entries(fresh)) {
    const own = { value, enumerable: true, writable: true, configurable: true }
    Object.defineProperty(session.state, name, own)
  }
}

function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || value['version'] !== 1) return false
  const { session } = value as { session?: unknown }
  if (!isObject(session) || session['version'] !== 1) return false
  return typeof session['revision'] === 'string' && Array.isArray(session['messages'])
}
