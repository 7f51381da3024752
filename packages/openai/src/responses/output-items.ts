import type { OutputItem } from './responses-output-item.ts'

/** How an event names an item. Servers leave out, change and repeat each of these. */
export interface ItemName {
  readonly id: string | undefined
  readonly index: unknown
  /** Type of the item, or nothing where the event does not tell. */
  readonly type: string | undefined
  readonly callId: string | undefined
}

/**
 * The items of a response so far. An item is known by its id and type, or else by its
 * `output_index`: some servers change the ids from event to event, and others give all items one index.
 */
export class OutputItems {
  readonly #items = new Set<OutputItem>()
  readonly #byId = new Map<string, OutputItem>()
  readonly #byIndex = new Map<unknown, OutputItem>()

  add(item: OutputItem, { id, index, callId }: ItemName): void {
    this.#items.add(item)
    if (id !== undefined) this.#byId.set(id, item)
    if (callId !== undefined) this.#byId.set(callId, item)
    this.#byIndex.set(index, item)
  }

  /** The item that an announcement repeats. */
  announced(name: ItemName): OutputItem | undefined {
    const item = this.#byName(name) ?? this.#at(name)
    const isSame = name.id === item?.id && name.index === item?.index
    return item?.isFinished || (item?.isAnnounced && !isSame) ? undefined : item
  }

  /** The item that a piece belongs to. */
  ofPiece(name: ItemName): OutputItem | undefined {
    const item = this.#byName(name) ?? this.#at(name)
    return item?.isFinished && name.id !== undefined && name.id !== item.id ? undefined : item
  }

  /** The item that has been completed. */
  finished(name: ItemName): OutputItem | undefined {
    const item = this.#byName(name)
    if (item !== undefined) return item
    const here = this.#at(name)
    return here?.isFinished ? undefined : here
  }

  /** Returns a function that finds the items of the whole response, each once. */
  inWhole(): (name: ItemName) => OutputItem | undefined {
    const open = new Set(this.#items)
    return (name) => {
      const named = [this.#byName(name), this.#at(name)].find((item) => item && open.has(item))
      const item = named ?? [...open].find((each) => each.type === name.type && fits(each, name))
      if (item !== undefined) open.delete(item)
      return item
    }
  }

  #byName({ id, type, callId }: ItemName): OutputItem | undefined {
    const item = id === undefined ? undefined : this.#byId.get(id)
    if (item !== undefined && (type === undefined || item.type === type)) return item
    const call = callId === undefined ? undefined : this.#byId.get(callId)
    return call?.type === type && !call?.isFinished ? call : undefined
  }

  #at(name: ItemName): OutputItem | undefined {
    const item = this.#byIndex.get(name.index)
    const isIt = item && (name.type === undefined || item.type === name.type) && fits(item, name)
    return isIt ? item : undefined
  }
}

/** Two calls are two if their ids of a call differ. */
function fits(item: OutputItem, { callId }: ItemName): boolean {
  return callId === undefined || item.callId === undefined || item.callId === callId
}
