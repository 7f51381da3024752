/** Gives every call of a history an id that the API accepts and that no other call has. */
export class CallIds {
  readonly #longest: number
  readonly #isExact: boolean
  readonly #takesOwn: (id: string) => boolean
  readonly #taken = new Set<string>()

  /**
   * With `isExact`, ids have exactly `longest` letters and digits and nothing else. `takesOwn` tells if
   * an id that the provider made itself stays.
   */
  constructor(longest: number, isExact = false, takesOwn: (id: string) => boolean = () => true) {
    this.#longest = longest
    this.#isExact = isExact
    this.#takesOwn = takesOwn
  }

  /** The id to use. An id that the provider made itself stays, as long as it is the first of its kind. */
  legal(id: string, isOwn: boolean): string {
    const base = isOwn && id !== '' && this.#isFit(id) ? id : this.#cut(this.#spelled(id), '')
    let legal = base
    for (let count = 2; this.#taken.has(legal); count++) {
      legal = this.#cut(base, this.#isExact ? String(count) : `_${count}`)
    }
    this.#taken.add(legal)
    return legal
  }

  #isFit(id: string): boolean {
    if (!this.#isExact) return this.#takesOwn(id)
    return id.length === this.#longest && /^[a-zA-Z0-9]+$/.test(id)
  }

  /** In an exact form, the end of an id stays: providers begin all of theirs alike. */
  #spelled(id: string): string {
    if (!this.#isExact) return id.replace(/[^\w-]/g, '_') || 'call'
    return id
      .replace(/[^a-zA-Z0-9]/g, '')
      .slice(-this.#longest)
      .padStart(this.#longest, '0')
  }

  #cut(id: string, suffix: string): string {
    return id.slice(0, this.#longest - suffix.length) + suffix
  }
}
