/** An item of a list, with the score that orders it. */
export interface ListItem {
  /** The item. A list holds each item once. */
  readonly item: string
  /** Orders the list, such as a time in milliseconds. */
  readonly score: number
}

/** Options of `StoreLists.add`. */
export interface ListAddOptions {
  /** Milliseconds after which the whole list expires, counted from this call. @default it stays */
  readonly ttlMs?: number | undefined
  /** Number of items that the list keeps; those with the lowest scores are dropped. @default all */
  readonly keep?: number | undefined
}

/** Options of `StoreLists.range`. */
export interface ListRangeOptions {
  /** Number of items to read. */
  readonly limit: number
  /** Reads on behind this item: the last one of the page before. @default the beginning */
  readonly after?: ListItem | undefined
}

/**
 * Lists of distinct items, ordered by score. Each method has the same effect whether it runs once or
 * twice.
 */
export interface StoreLists {
  /** Adds an item, or changes its score. */
  add(list: string, item: string, score: number, options?: ListAddOptions): Promise<void>
  /** Removes an item. A missing item is no error. */
  remove(list: string, item: string): Promise<void>
  /** Reads items from the highest score down. Items of one score have a fixed order. */
  range(list: string, options: ListRangeOptions): Promise<readonly ListItem[]>
}

interface KeptList {
  readonly scores: Map<string, number>
  expiresAt: number
}

/** Keeps lists in this process. Beyond `maxLists`, the least recently used list is dropped. */
export function memoryLists(options: {
  readonly maxLists: number
  readonly clock: { now(): number }
}): StoreLists {
  const { maxLists, clock } = options
  const lists = new Map<string, KeptList>()

  const find = (name: string): KeptList | undefined => {
    const list = lists.get(name)
    lists.delete(name)
    if (list === undefined || list.expiresAt <= clock.now()) return undefined
    lists.set(name, list)
    return list
  }

  return {
    async add(name, item, score, { ttlMs = Infinity, keep = Infinity } = {}) {
      const list = find(name) ?? { scores: new Map<string, number>(), expiresAt: Infinity }
      list.scores.set(item, score)
      list.expiresAt = clock.now() + ttlMs
      lists.set(name, list)
      for (const { item: last } of sorted(list).slice(keep)) list.scores.delete(last)
      for (const oldest of lists.keys()) {
        if (lists.size <= maxLists) break
        lists.delete(oldest)
      }
    },
    async remove(name, item) {
      const list = find(name)
      list?.scores.delete(item)
      if (list?.scores.size === 0) lists.delete(name)
    },
    async range(name, { limit, after }) {
      const list = find(name)
      const items = list === undefined ? [] : sorted(list)
      const rest = after === undefined ? items : items.filter((entry) => inOrder(after, entry) < 0)
      return rest.slice(0, limit)
    },
  }
}

function sorted({ scores }: KeptList): ListItem[] {
  return Array.from(scores, ([item, score]) => ({ item, score })).toSorted(inOrder)
}

function inOrder(a: ListItem, b: ListItem): number {
  return b.score - a.score || (a.item > b.item ? -1 : 1)
}
