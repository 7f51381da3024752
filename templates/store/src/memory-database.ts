import type { YourDatabase } from './your-store.ts'

/** A database in memory, for tests and until you connect your own. */
export function memoryDatabase(): YourDatabase {
  const entries = new Map<string, { readonly json: string; readonly expiresAt: number }>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    read: async (key) => entries.get(key),
    write: async (key, entry) => void entries.set(key, entry),
    remove: async (key) => void entries.delete(key),
    alone(_key, work) {
      const done = last.then(work, work)
      last = done.catch(() => {})
      return done
    },
  }
}
