import type { KeyvLike, Swap } from './keyv-like.ts'

interface RedisKeyv extends KeyvLike {
  readonly namespace: string | undefined
  readonly useKeyPrefix: boolean
  serializeData(data: { value: unknown; expires: number | undefined }): unknown
  deserializeData(text: string): unknown
}

interface RedisAdapter {
  readonly namespace: string | undefined
  getClient(): Promise<{
    get(key: string): Promise<string | null>
    eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  }>
  createKeyPrefix(key: string, namespace: string | undefined): string
}

// KEYS[1] the entry; ARGV: 1 if it exists, its text, the new text, its milliseconds, '' or 'keep'.
const script = `
local now = redis.call('GET', KEYS[1])
if now ~= (ARGV[1] == '1' and ARGV[2]) then return 0 end
if ARGV[4] == 'keep' then redis.call('SET', KEYS[1], ARGV[3], 'KEEPTTL')
elseif ARGV[4] == '' then redis.call('SET', KEYS[1], ARGV[3])
else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return 1`

/**
 * Replaces entries of a Keyv on Redis with a script; `undefined` if the Keyv is on another store.
 */
export function redisSwap(keyv: KeyvLike): ((key: string) => Promise<Swap>) | undefined {
  if (!isOnRedis(keyv)) return undefined
  const { store } = keyv
  return async (key) => {
    const name = store.createKeyPrefix(prefixed(keyv, key), store.namespace)
    const client = await store.getClient()
    const before = await client.get(name)
    const data = ((before === null ? undefined : await keyv.deserializeData(before)) ?? {}) as {
      value?: unknown
      expires?: number | undefined
    }
    return {
      value: data.value,
      replace: async (value, ttlMs, keepsTtl) => {
        const ends = ttlMs === undefined ? undefined : Date.now() + ttlMs
        const expires = keepsTtl ? data.expires : ends
        const after = String(await keyv.serializeData({ value, expires }))
        const time = keepsTtl ? 'keep' : String(ttlMs ?? '')
        const wrote = await client.eval(script, {
          keys: [name],
          arguments: [before === null ? '0' : '1', before ?? '', after, time],
        })
        return Number(wrote) === 1
      },
    }
  }
}

/** Returns the key as Keyv passes it to its adapter. */
function prefixed({ namespace, useKeyPrefix }: RedisKeyv, key: string): string {
  const isDone = !useKeyPrefix || !namespace || key.startsWith(`${namespace}:`)
  return isDone ? key : `${namespace}:${key}`
}

function isOnRedis(keyv: KeyvLike): keyv is RedisKeyv & { readonly store: RedisAdapter } {
  const { store, serializeData, deserializeData } = keyv as Partial<RedisKeyv>
  const { getClient, createKeyPrefix } = (store ?? {}) as Partial<RedisAdapter>
  return [serializeData, deserializeData, getClient, createKeyPrefix].every(
    (method) => typeof method === 'function',
  )
}
