import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'

/** A Lua script, with the hash by which Redis knows it. */
export interface RedisScript {
  /** The script. */
  readonly text: string
  /** Its SHA-1. */
  readonly hash: string
}

export function redisScript(text: string): RedisScript {
  return { text, hash: createHash('sha1').update(text).digest('hex') }
}

/** Runs a script by its hash, and by its text where Redis does not know it yet. */
export async function runScript(
  redis: Redis,
  { text, hash }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(hash, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return redis.eval(text, keys.length, ...keys, ...args)
  }
}
