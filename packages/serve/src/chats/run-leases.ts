import type { KeyValueStore } from '@lamella/core'
import { createSecretId, longestTimerMs } from '@lamella/core/authoring'
import { LamellaError } from '@lamella/core'
import type { ChatPlace } from './chat-place.ts'
import { chatPlace } from './chat-place.ts'
import type { Principal } from './principal.ts'

/** Marks the chat of a run in the store. */
interface Mark {
  readonly id: string
  readonly beat: number
  readonly stop?: true
  readonly isDeleted?: true
}

/** Replaces the mark of a run that has ended. */
const free: Mark = { id: 'free', beat: 0 }

/** The right to run a chat. */
export interface RunLease {
  /** Aborted with a reason when the run is asked to stop, or when the store gave the chat to another run. */
  readonly signal: AbortSignal
  /** Lets the next run begin. */
  release(): Promise<void>
}

/** Creates the reason of a requested stop. A run adds its outcome to it. */
export function stopReason(): LamellaError {
  return new LamellaError('the run was stopped', { code: 'run_stopped' })
}

/** Allows one run for each chat, in all processes that share the store. */
export class RunLeases {
  readonly #store: KeyValueStore
  readonly #leaseMs: number

  constructor(store: KeyValueStore, leaseMs: number) {
    this.#store = store
    this.#leaseMs = leaseMs
  }

  /** @throws LamellaError `run_active` while another run has the chat */
  async take(owner: Principal, chat: string): Promise<RunLease> {
    const marks = this.#marksOf(owner)
    const ttlMs = this.#leaseMs
    let mark: Mark = { id: createSecretId('lease'), beat: 0 }
    const swap = (from: Mark | undefined, to: Mark, forMs = ttlMs): Promise<boolean> =>
      marks.compareAndSet(chat, from, to, { ttlMs: forMs })
    // What a run that has ended left may expire between the first question and the second.
    const isOwn =
      (await swap(undefined, mark)) || (await swap(free, mark)) || (await swap(undefined, mark))
    if (!isOwn) {
      throw new LamellaError('this chat has a run that has not ended', { code: 'run_active' })
    }
    const controller = new AbortController()
    const renew = async (): Promise<void> => {
      const next = { ...mark, beat: mark.beat + 1 }
      if (await swap(mark, next)) {
        mark = next
        return
      }
      const found = (await marks.get(chat)) as Mark | undefined
      if (found?.id === mark.id && found.stop === true) {
        mark = found
        controller.abort(stopReason())
      } else if (found?.id !== mark.id) {
        controller.abort(new LamellaError('the lease was lost', { code: 'run_lost' }))
      }
    }
    let beating = Promise.resolve()
    const timer = setInterval(
      () => {
        // A store that does not answer keeps the lease until it expires.
        beating = beating.then(renew).catch(() => undefined)
      },
      Math.min(Math.ceil(ttlMs / 6), longestTimerMs),
    )
    return {
      signal: controller.signal,
      release: async () => {
        clearInterval(timer)
        await beating
        // It may have expired and belong to another run, so it is not simply deleted.
        while (!(await swap(mark, free, 1))) {
          const found = (await marks.get(chat)) as Mark | undefined
          if (found?.id !== mark.id) return
          mark = found
        }
      },
    }
  }

  /**
   * Asks the run of a chat to stop, in any process, and to save nothing if the chat is deleted. Resolves to
   * false if there is none.
   */
  async stop(
    owner: Principal,
    chat: string,
    { isDeleted }: { readonly isDeleted?: true } = {},
  ): Promise<boolean> {
    const marks = this.#marksOf(owner)
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const found = await this.#markOf(owner, chat)
      if (found === undefined) return false
      const asked = { ...found, stop: true, ...(isDeleted && { isDeleted }) }
      const ttlMs = this.#leaseMs
      // oxlint-disable-next-line no-await-in-loop
      if (await marks.compareAndSet(chat, found, asked, { ttlMs })) return true
    }
  }

  /** Resolves to true if the chat was deleted during its run, and to `undefined` if it has none. */
  async isDeleted(owner: Principal, chat: string): Promise<boolean | undefined> {
    const mark = await this.#markOf(owner, chat)
    return mark && mark.isDeleted === true
  }

  async isRunning(owner: Principal, chat: string): Promise<boolean> {
    return (await this.#markOf(owner, chat)) !== undefined
  }

  async #markOf(owner: Principal, chat: string): Promise<Mark | undefined> {
    const mark = (await this.#marksOf(owner).get(chat)) as Mark | undefined
    return mark?.id === free.id ? undefined : mark
  }

  #marksOf(owner: Principal): ChatPlace {
    return chatPlace(this.#store, 'serve-runs', owner)
  }
}
