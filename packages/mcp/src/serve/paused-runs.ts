import type { Checkpoint, KeyValueStore } from '@lamella/core'
import { createSecretId, canonicalJson, jsonCopy } from '@lamella/core/authoring'

/** A run that waits for approval, and who may approve it. */
export interface PausedRun {
  readonly tool: string
  readonly input: string
  /** Caller of the tool. */
  readonly principal: string
  readonly checkpoint: Checkpoint
}

/**
 * Runs that wait for approval. A client has only a key of each, which cannot be guessed, holds for one caller
 * and is used once.
 */
export class PausedRuns {
  readonly #store: KeyValueStore
  readonly #ttlMs: number

  constructor(store: KeyValueStore, ttlMs: number) {
    this.#store = store
    this.#ttlMs = ttlMs
  }

  /** Keeps a run, and resolves to its key. */
  async keep(run: PausedRun): Promise<string> {
    const key = createSecretId('mcp')
    await this.#store.set(placeOf(key), jsonCopy(run), { ttlMs: this.#ttlMs })
    return key
  }

  /** Takes a run out, once. Nothing if the key is not of this caller, tool and input, was used or expired. */
  async take(key: string, by: Omit<PausedRun, 'checkpoint'>): Promise<Checkpoint | undefined> {
    const place = placeOf(key)
    const found = (await this.#store.get(place)) as PausedRun | undefined
    if (found?.checkpoint === undefined) return undefined
    const { checkpoint, ...owner } = found
    if (canonicalJson(owner) !== canonicalJson(by)) return undefined
    const isFirst = await this.#store.compareAndSet(place, found, used, { ttlMs: this.#ttlMs })
    return isFirst ? checkpoint : undefined
  }
}

const used = 'used'

function placeOf(key: string): string {
  return `mcp-paused:${key}`
}
