import type { Checkpoint, KeyValueStore, PendingRequest } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import type { ChatPlace } from './chat-place.ts'
import { chatPlace } from './chat-place.ts'
import type { Principal } from './principal.ts'

/** Answers by the id of the request. */
export type Answers = ReadonlyMap<string, unknown>

/** The oldest paused runs of a chat beyond this number are forgotten. */
const mostPaused = 20

/** Keeps the checkpoints of paused runs of one chat. They never leave the server. */
export class PausedRuns {
  readonly #place: ChatPlace
  readonly #chat: string
  readonly #ttlMs: number | undefined

  constructor(store: KeyValueStore, owner: Principal, chat: string, ttlMs: number | undefined) {
    this.#place = chatPlace(store, 'serve-paused', owner)
    this.#chat = chat
    this.#ttlMs = ttlMs
  }

  async all(): Promise<readonly Checkpoint[]> {
    return listOf(await this.#place.get(this.#chat))
  }

  async pending(): Promise<readonly PendingRequest[]> {
    return (await this.all()).flatMap(({ pending }) => pending)
  }

  /**
   * The run that waits for these answers, and its requests.
   * @throws LamellaError `approval_invalid`, also for one that was answered before
   */
  async find(answers: Answers): Promise<{ checkpoint: Checkpoint; asked: PendingRequest[] }> {
    const [first] = answers.keys()
    const checkpoint = (await this.all()).find(({ pending }) =>
      pending.some(({ id }) => id === first),
    )
    const asked = (checkpoint?.pending ?? []).filter(({ id }) => answers.has(id))
    if (checkpoint === undefined || asked.length < answers.size) throw nothingWaits()
    return { checkpoint, asked }
  }

  /** Takes a checkpoint out. Of several that try, in any process, one succeeds. */
  async claim({ id }: Checkpoint): Promise<void> {
    const isClaimed = await this.#replace((all) => {
      const others = all.filter((entry) => entry.id !== id)
      if (others.length === all.length) throw nothingWaits()
      return others
    })
    if (!isClaimed) throw nothingWaits()
  }

  /** @throws LamellaError `session_conflict` */
  async add(checkpoint: Checkpoint): Promise<void> {
    if (await this.#replace((all) => [...all, checkpoint].slice(-mostPaused))) return
    throw new LamellaError('the paused runs of the chat changed', { code: 'session_conflict' })
  }

  async clear(): Promise<void> {
    await this.#place.delete(this.#chat)
  }

  async #replace(change: (all: readonly Checkpoint[]) => readonly Checkpoint[]): Promise<boolean> {
    const found = await this.#place.get(this.#chat)
    const ttlMs = this.#ttlMs
    return this.#place.compareAndSet(this.#chat, found, change(listOf(found)), { ttlMs })
  }
}

function listOf(entry: unknown): readonly Checkpoint[] {
  return (entry ?? []) as readonly Checkpoint[]
}

function nothingWaits(): LamellaError {
  return new LamellaError('nothing that waits has this id', { code: 'approval_invalid' })
}
