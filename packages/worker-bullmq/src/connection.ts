import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'

/** Where Redis is: a URL, or the options of ioredis. */
export type Connection = string | Omit<RedisOptions, 'replyMapping' | 'maxRetriesPerRequest'>

/** Opens a connection. Commands wait for Redis to come back, so nothing is lost over a restart of it. */
export function connect(connection: Connection): Redis {
  const options = { maxRetriesPerRequest: null }
  return typeof connection === 'string'
    ? new Redis(connection, options)
    : new Redis({ ...connection, ...options })
}
