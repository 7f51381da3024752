import type { KeyValueStore } from '@lamella/core'
import { storeNamespace } from '@lamella/store'
import { systemClock, withinStoreTime } from '@lamella/core/authoring'
import type { Principal } from './principal.ts'
import { ownerOf } from './principal.ts'

/** The parts of a store that serving a chat needs, each call with a time limit. */
export type ChatPlace = Pick<KeyValueStore, 'get' | 'delete' | 'compareAndSet'>

const timeoutMs = 5000

/** A place in the store for one kind of data of one principal. */
export function chatPlace(store: KeyValueStore, name: string, owner: Principal): ChatPlace {
  const place = storeNamespace(store, { name, ...ownerOf(owner) })
  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withinStoreTime(work, { clock: systemClock, timeoutMs })
  return {
    get: (key) => inTime(place.get(key)),
    delete: (key) => inTime(place.delete(key)),
    compareAndSet: (key, expected, value, options) =>
      inTime(place.compareAndSet(key, expected, value, options)),
  }
}
