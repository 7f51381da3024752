/** A list that is read from its front. An array moves all that it holds for each `shift()`. */
export class Queue<Item extends object> {
  /** Takes in what comes last. */
  readonly added: Item[] = []
  /** Items in front of `added`, the first one last. */
  #ready: Item[] = []

  /** Removes the first item. */
  take(): Item | undefined {
    if (this.#ready.length === 0 && this.added.length > 0)
      this.#ready = this.added.splice(0).toReversed()
    return this.#ready.pop()
  }

  /** Returns true if there is such an item. */
  some(isIt: (item: Item) => boolean): boolean {
    return this.added.some(isIt) || this.#ready.some(isIt)
  }
}
