import type { OptionRules } from '@lamella/core/authoring'
import { callLater, systemClock, wrongOption } from '@lamella/core/authoring'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'

/** Address of Redis: a URL, or the options of ioredis. */
export type Connection = string | Omit<RedisOptions, 'replyMapping' | 'maxRetriesPerRequest'>

/**
 * Opens a connection. Commands wait until Redis is available again, so that a restart loses
 * nothing.
 */
export function connect(connection: Connection): Redis {
  const options = { maxRetriesPerRequest: null }
  return typeof connection === 'string'
    ? new Redis(connection, options)
    : new Redis({ ...connection, ...options })
}

/**
 * Waits until a connection is closed. If Redis is still unavailable `waitMs` plus five seconds
 * later, it disconnects and resolves to false, because commands would wait forever.
 */
export async function closed(
  redis: Redis,
  closing: Promise<unknown>,
  waitMs: number,
): Promise<boolean> {
  let stopTimer: (() => void) | undefined
  const givenUp = new Promise<false>((resolve) => {
    stopTimer = callLater(systemClock, waitMs + 5000, () => {
      if (redis.status === 'ready') redis.once('close', () => resolve(false))
      else resolve(false)
    })
  })
  const isClosed = await Promise.race([closing.then(() => true), givenUp])
  stopTimer?.()
  if (!isClosed) {
    closing.catch(() => {})
    const isBetweenTries = redis.status === 'reconnecting'
    redis.disconnect()
    // Commands that wait for the next attempt fail.
    if (isBetweenTries)
      redis
        .connect()
        .then(() => redis.quit())
        .catch(() => {})
  }
  return isClosed
}

/** Rules of the options that queues and workers share. */
export const sharedRules: OptionRules<{
  readonly name: string
  readonly connection: Connection
  readonly keepMs?: number | undefined
}> = { name: 'string', connection: 'any', keepMs: 1 }

/** @throws TypeError that names the option and the value, before anything is opened */
export function checkPlace(
  owner: string,
  { name, connection }: { readonly name: string; readonly connection: Connection },
): void {
  if (name.includes(':')) throw wrongOption(owner, 'name', 'a string without `:`', name)
  if (typeof connection === 'string') return
  if (typeof connection !== 'object' || connection === null)
    throw wrongOption(owner, 'connection', 'a URL or options of ioredis', connection)
}
