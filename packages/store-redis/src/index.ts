export { redisStore } from './redis-store.ts'
export type { RedisStoreOptions } from './redis-store-options.ts'
