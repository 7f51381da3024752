import type { KeyValueStore } from '@lamella/core'
import { createSecretId, systemClock, withinStoreTime } from '@lamella/core/authoring'

const place = 'lamella:spotlight-key'
const timeoutMs = 1000
let ofProcess: string | undefined
const ofStores = new WeakMap<KeyValueStore, string>()

/**
 * Key of the marks around tool results: that of the store, which all agents and processes on it share, or
 * that of this process. The same result has the same mark then, so that caches of answers and of prompts
 * keep working; the author of a text knows no key, and so cannot write a closing mark. A store that fails is
 * as good as none.
 */
export async function spotlightKey(store: KeyValueStore | undefined): Promise<string> {
  ofProcess ??= createSecretId('spotlight')
  if (store === undefined) return ofProcess
  const known = ofStores.get(store)
  if (known !== undefined) return known
  try {
    const shared = sharedKey(store, ofProcess)
    const key = await withinStoreTime(shared, { clock: systemClock, timeoutMs })
    ofStores.set(store, key)
    return key
  } catch {
    return ofProcess
  }
}

async function sharedKey(store: KeyValueStore, own: string): Promise<string> {
  const known = await store.get(place)
  if (isKey(known)) return known
  if (await store.compareAndSet(place, known, own)) return own
  const theirs = await store.get(place)
  return isKey(theirs) ? theirs : own
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 16
}
