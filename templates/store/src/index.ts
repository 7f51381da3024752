export { memoryDatabase } from './memory-database.ts'
export { yourStore } from './your-store.ts'
export type { YourDatabase, YourStoreOptions } from './your-store.ts'
