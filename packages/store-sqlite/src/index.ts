export { sqliteStore } from './sqlite-store.ts'
export type { SqliteStoreOptions } from './sqlite-store-options.ts'
