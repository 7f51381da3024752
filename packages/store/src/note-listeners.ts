/** Who listens on which channels of a connection. */
export interface NoteListeners {
  /** Adds a listener. Resolves to a function that removes it, once the channel is open. */
  listen(channel: string, listener: (note: string) => void): Promise<() => Promise<void>>
  /** Passes a note on to those who listen on its channel. */
  readonly tell: (channel: string, note: string) => void
  /** Channels with listeners. */
  readonly channels: readonly string[]
}

/**
 * Shares a connection between listeners, for the signals of a store of your own: `open` is called with the first
 * listener of a channel, `close` after the last one.
 */
export function noteListeners({
  open,
  close,
}: {
  readonly open: (channel: string) => Promise<void>
  readonly close: (channel: string) => Promise<void>
}): NoteListeners {
  const known = new Map<
    string,
    { readonly all: Set<(note: string) => void>; ready: Promise<void> }
  >()

  return {
    async listen(channel, listener) {
      const own = (note: string): void => listener(note)
      const entry = known.get(channel) ?? { all: new Set(), ready: open(channel) }
      known.set(channel, entry)
      entry.all.add(own)
      const remove = async (): Promise<void> => {
        entry.all.delete(own)
        if (entry.all.size > 0 || known.get(channel) !== entry) return
        known.delete(channel)
        await close(channel)
      }
      try {
        await entry.ready
      } catch (error) {
        // The next listener tries again.
        if (known.get(channel) === entry) known.delete(channel)
        throw error
      }
      return remove
    },
    tell: (channel, note) => {
      for (const listener of known.get(channel)?.all ?? []) listener(note)
    },
    get channels() {
      return [...known.keys()]
    },
  }
}
