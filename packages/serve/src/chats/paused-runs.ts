import type { Checkpoint, KeyValueStore, PendingRequest } from '@lamella/core'
import { checkpointState, LamellaError } from '@lamella/core'
import type { ChatPlace } from './chat-place.ts'
import { chatPlace } from './chat-place.ts'
import type { Principal } from './principal.ts'

/** Answers by the id of the request. */
export type Answers = ReadonlyMap<string, unknown>

/** Maximum number of paused runs of a chat; older ones are removed. */
const mostPaused = 20

/** Stores the checkpoints of paused runs of one chat. They never leave the server. */
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
    return (await this.all()).flatMap((paused) => checkpointState(paused).pending)
  }

  /**
   * Finds the run with these requests.
   * @throws LamellaError `approval_invalid`, also for one that was answered before
   */
  async find(answers: Answers): Promise<{ checkpoint: Checkpoint; asked: PendingRequest[] }> {
    const [first] = answers.keys()
    const checkpoint = (await this.all()).find((paused) =>
      checkpointState(paused).pending.some(({ id }) => id === first),
    )
    const pending = checkpoint === undefined ? [] : checkpointState(checkpoint).pending
    const asked = pending.filter(({ id }) => answers.has(id))
    if (checkpoint === undefined || asked.length < answers.size) throw nothingWaits()
    return { checkpoint, asked }
  }

  /** Ids of all open requests. */
  async ids(): Promise<readonly string[]> {
    return (await this.pending()).map(({ id }) => id)
  }

  /** Removes a checkpoint. Of several concurrent calls, in any process, one succeeds. */
  async claim(checkpoint: Checkpoint): Promise<void> {
    const { id } = checkpointState(checkpoint)
    const isClaimed = await this.#replace((all) => {
      const others = all.filter((entry) => checkpointState(entry).id !== id)
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

  /** Removes the runs that answer one of these messages. @throws LamellaError `session_conflict` */
  async drop(messages: ReadonlySet<string>): Promise<void> {
    const isKept = ({ input }: Checkpoint): boolean => input.every(({ id }) => !messages.has(id))
    const all = await this.all()
    if (all.every(isKept) || (await this.#replace((found) => found.filter(isKept)))) return
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
  return new LamellaError('no open request has this id', { code: 'approval_invalid' })
}
