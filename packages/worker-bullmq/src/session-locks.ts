import { storePrefix } from '@lamella/store'
import type { Redis } from 'ioredis'
import type { RunOwner } from './run-record.ts'

/** Serializes the runs of one session, across processes. */
export class SessionLocks {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, queue: string) {
    this.#redis = redis
    this.#prefix = `lamella:${queue}:`
  }

  /** Holds a session for one run. True also if the run holds it already. */
  async hold(sessionId: string, owner: RunOwner, runId: string): Promise<boolean> {
    const holder = await this.#redis.eval(
      `redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
      return redis.call('get', KEYS[1])`,
      1,
      this.#key(sessionId, owner),
      runId,
      heldMs,
    )
    return holder === runId
  }

  async release(sessionId: string, owner: RunOwner, runId: string): Promise<void> {
    await this.#redis.eval(
      `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end`,
      1,
      this.#key(sessionId, owner),
      runId,
    )
  }

  /** Each tenant has its own sessions, even with equal ids. */
  #key(sessionId: string, { tenant }: RunOwner): string {
    return this.#prefix + storePrefix({ name: 'session', tenant }) + sessionId
  }
}

/** Longer than any run. */
const heldMs = 7 * 24 * 60 * 60 * 1000
