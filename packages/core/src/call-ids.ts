/** Gives every call of a history an id that the API accepts and that no other call has. */
export class CallIds {
  readonly #longest: number
  readonly #taken = new Set<string>()

  constructor(longest: number) {
    this.#longest = longest
  }

  /** The id to use. An id that the provider made itself stays, as long as it is the first of its kind. */
  legal(id: string, isOwn: boolean): string {
    const base = isOwn && id !== '' ? id : this.#cut(id.replace(/[^\w-]/g, '_') || 'call', '')
    let legal = base
    for (let count = 2; this.#taken.has(legal); count++) legal = this.#cut(base, `_${count}`)
    this.#taken.add(legal)
    return legal
  }

  #cut(id: string, suffix: string): string {
    return id.slice(0, this.#longest - suffix.length) + suffix
  }
}
