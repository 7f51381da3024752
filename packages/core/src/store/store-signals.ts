/**
 * Short notes between processes that share a store, such as "there is something new": those who wait hear of it
 * at once, and need not read the store again and again. A note is never the only word of anything: it may be
 * lost, come late or twice, and whoever listens reads the store now and then all the same.
 */
export interface StoreSignals {
  /** Sends a note, of up to 1,000 characters, to all who listen on the channel now. */
  send(channel: string, note: string): Promise<void>
  /** Calls `listener` with each note. Resolves to a function that ends this, once the notes arrive. */
  listen(channel: string, listener: (note: string) => void): Promise<() => Promise<void>>
}

/** Carries notes within this process. */
export function memorySignals(): StoreSignals {
  const channels = new Map<string, Set<(note: string) => void>>()
  return {
    async send(channel, note) {
      for (const listener of channels.get(channel) ?? []) listener(note)
    },
    async listen(channel, listener) {
      // Each call listens for itself, also with the same function.
      const own = (note: string): void => listener(note)
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(own))
      return async () => {
        listeners.delete(own)
        if (listeners.size === 0 && channels.get(channel) === listeners) channels.delete(channel)
      }
    },
  }
}
