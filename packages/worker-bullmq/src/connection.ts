import { wrongOption } from '@lamella/core/authoring'
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
