import type { KeyValueStore } from '@lamella/core'
import { systemClock, withinStoreTime } from '@lamella/core/authoring'
import { storePrefix, whenStored } from '@lamella/store'
import type { Delivery, InboxRecord } from './inbox-record.ts'
import { emptyRecord, outcomeIn } from './inbox-record.ts'

/** Address of an inbox in a store. */
export interface PlaceInit {
  readonly store: KeyValueStore
  readonly id: string
  readonly tenant: string | undefined
  readonly principal: string | undefined
  readonly ttlMs: number
  readonly pollMs: number | undefined
}

const timeoutMs = 5000

/** The record of one inbox in a store: changed by compare-and-set, with a note to those who wait. */
export class InboxPlace {
  readonly #init: PlaceInit
  readonly #key: string

  constructor(init: PlaceInit) {
    this.#init = init
    const { id, tenant, principal } = init
    this.#key = storePrefix({ name: 'steering', tenant, principal }) + id
  }

  async read(): Promise<InboxRecord> {
    return (await this.#get()) ?? emptyRecord
  }

  /** Changes the record in one step. A change that returns what it got writes nothing. */
  async change(
    update: (record: InboxRecord) => InboxRecord,
    signal?: AbortSignal,
  ): Promise<InboxRecord> {
    const { store, ttlMs } = this.#init
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const found = await this.#get(signal)
      const record = found ?? emptyRecord
      const next = update(record)
      if (next === record) return record
      const write = store.compareAndSet(this.#key, found, next, { ttlMs })
      // oxlint-disable-next-line no-await-in-loop
      if (!(await withinStoreTime(write, { clock: systemClock, timeoutMs, signal }))) continue
      // A note that is lost costs time, nothing else.
      void store.signals?.send(this.#key, '').catch(() => {})
      return next
    }
  }

  /** Resolves to the outcome of a message, when there is one. */
  outcome(id: string, signal: AbortSignal | undefined): Promise<Delivery> {
    const { store, pollMs } = this.#init
    const lost: Delivery = { type: 'not-delivered', id, reason: 'unknown' }
    return whenStored(store, {
      channel: this.#key,
      pollMs,
      signal,
      read: async () => {
        const record = await this.read()
        const isWaiting = record.waiting.some((entry) => entry.id === id)
        return outcomeIn(record, id) ?? (isWaiting ? undefined : lost)
      },
    })
  }

  #get(signal?: AbortSignal): Promise<InboxRecord | undefined> {
    const read = this.#init.store.get(this.#key)
    return withinStoreTime(read, { clock: systemClock, timeoutMs, signal }) as Promise<
      InboxRecord | undefined
    >
  }
}
