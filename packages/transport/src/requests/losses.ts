/** Counts what a change of provider costs a history. */
export class Losses {
  readonly #counts = new Map<string, number>()

  /** Counts one loss, such as `an image is left out`. */
  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  /** One sentence for each kind, such as `reasoning of anthropic is left out (3 times)`. */
  toList(): readonly string[] {
    return [...this.#counts].map(([what, count]) =>
      count === 1 ? what : `${what} (${count} times)`,
    )
  }
}
