import type { KeyValueStore, PendingRequest } from '@lamella/core'
import { backgroundTimer } from '@lamella/core/authoring'
import type { OpenRequest, OpenRequests } from '@lamella/store'
import { requests } from '@lamella/store'
import { HttpFailure } from '../http/http-failure.ts'
import type { ChatServiceOptions } from './chat-options.ts'
import type { Principal } from './principal.ts'
import { ownerOf } from './principal.ts'

/** A request whose time is over, and its answer. */
export type ExpiredRequest = Awaited<ReturnType<OpenRequests['expire']>>[number]

/** The open requests of all chats, for those who may manage them. Without a use for it, nothing is kept. */
export class ManagedRequests {
  readonly #open: OpenRequests | undefined
  readonly #mayManage: ChatServiceOptions['mayManage']
  readonly #expiresAfterMs: number | undefined
  readonly #onExpired: (expired: ExpiredRequest) => void

  constructor(
    store: KeyValueStore,
    { mayManage, expiresAfterMs }: Pick<ChatServiceOptions, 'expiresAfterMs' | 'mayManage'>,
    onExpired: (expired: ExpiredRequest) => void,
  ) {
    const isUsed = mayManage !== undefined || expiresAfterMs !== undefined
    this.#open = isUsed ? requests(store, { name: 'serve-requests' }) : undefined
    this.#mayManage = mayManage
    this.#expiresAfterMs = expiresAfterMs
    this.#onExpired = onExpired
  }

  /** Opens the requests of a paused run of a chat. */
  async add(owner: Principal, chat: string, pending: readonly PendingRequest[]): Promise<void> {
    const expiresAfterMs = this.#expiresAfterMs
    await this.#open?.open(pending, { ...ownerOf(owner), place: chat, expiresAfterMs })
    // Where this process ends first, the next one that looks at the list ends them.
    if (expiresAfterMs !== undefined)
      backgroundTimer(() => void this.expire(owner.tenant).catch(() => {}), expiresAfterMs)
  }

  /** @throws HttpFailure 409 if another person has claimed one of these requests */
  async checkClaims(ids: Iterable<string>, tenant: string | undefined, by: string): Promise<void> {
    for (const id of ids) {
      // oxlint-disable-next-line no-await-in-loop
      const { claim } = (await this.#open?.get(id, tenant)) ?? {}
      if (claim !== undefined && claim.by !== by && claim.until > Date.now()) {
        throw new HttpFailure('another person decides about it', {
          status: 409,
          code: 'request_claimed',
        })
      }
    }
  }

  /** Closes requests with the answers that a run has got. */
  async answered(
    answers: Readonly<Record<string, unknown>>,
    tenant: string | undefined,
    by: string,
  ): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    const all = Object.entries(answers)
    // One that is not in the list any more, such as an expired one, has its end.
    await Promise.allSettled(all.map(([id, value]) => open.answer(id, value, { tenant, by })))
  }

  async withdraw(ids: readonly string[], tenant: string | undefined): Promise<void> {
    await this.#open?.withdraw(ids, tenant)
  }

  /** Refuses what nobody has answered in time. */
  async expire(tenant: string | undefined): Promise<void> {
    if (this.#expiresAfterMs === undefined) return
    for (const expired of await this.#open!.expire(tenant)) this.#onExpired(expired)
  }

  /** Lists what a principal may manage, the latest first. */
  async list(principal: Principal): Promise<readonly OpenRequest[]> {
    if (this.#open === undefined) return []
    const { tenant } = principal
    await this.expire(tenant)
    const { requests: all } = await this.#open.list({ tenant, limit: mostShown })
    const mine = await Promise.all(all.map((request) => this.#isOpenTo(principal, request)))
    return all.filter((_, at) => mine[at])
  }

  /** Reserves a request for a principal; false if another has it. */
  async claim(principal: Principal, id: string): Promise<boolean> {
    await this.of(principal, id)
    return this.#open!.claim(id, { by: principal.id, tenant: principal.tenant })
  }

  /** @throws HttpFailure 404 if there is no such request for this principal */
  async of(principal: Principal, id: string): Promise<OpenRequest> {
    const request = await this.#open?.get(id, principal.tenant)
    if (request !== undefined && (await this.#isOpenTo(principal, request))) return request
    throw new HttpFailure('there is no such request', { status: 404, code: 'request_unknown' })
  }

  async #isOpenTo(principal: Principal, request: OpenRequest): Promise<boolean> {
    return ((await this.#mayManage?.({ principal, request })) as unknown) === true
  }
}

/** Requests of one page. */
const mostShown = 200
