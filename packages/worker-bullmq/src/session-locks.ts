import type { Redis } from 'ioredis'

/** Keeps runs of one session apart, in whatever process they are. */
export class SessionLocks {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, queue: string) {
    this.#redis = redis
    this.#prefix = `lamella:${queue}:session:`
  }

  /** Holds a session for one run. True also if the run holds it already. */
  async hold(sessionId: string, runId: string): Promise<boolean> {
    const holder = await this.#redis.eval(
      `redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
      return redis.call('get', KEYS[1])`,
      1,
      this.#prefix + sessionId,
      runId,
      heldMs,
    )
    return holder === runId
  }

  async release(sessionId: string, runId: string): Promise<void> {
    await this.#redis.eval(
      `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end`,
      1,
      this.#prefix + sessionId,
      runId,
    )
  }
}

/** Longer than any run. */
const heldMs = 7 * 24 * 60 * 60 * 1000
