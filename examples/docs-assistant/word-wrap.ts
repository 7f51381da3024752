/** Wraps a text that arrives in pieces: breaks long lines between words. */
export class WordWrap {
  readonly #width: () => number
  #column = 0
  #space = ''
  #word = ''

  /** @param width characters of a line, read at each word: a terminal may change its size */
  constructor(width: () => number) {
    this.#width = width
  }

  /** Accepts a piece, and returns the text to write. The last word may still grow. */
  push(piece: string): string {
    let text = ''
    for (const character of piece) {
      if (character === '\n') {
        text += `${this.#flush()}\n`
        this.#column = 0
        this.#space = ''
      } else if (character === ' ' || character === '\t') {
        text += this.#flush()
        this.#space += ' '
      } else this.#word += character
    }
    return text
  }

  /** Returns the word that was kept, and starts again. */
  end(): string {
    const text = this.#flush()
    this.#column = 0
    this.#space = ''
    return text
  }

  #flush(): string {
    if (this.#word === '') return ''
    const length = Array.from(this.#word).length
    const isTooLong = this.#column + this.#space.length + length > this.#width()
    const space = !isTooLong ? this.#space : this.#column > 0 ? '\n' : ''
    const text = space + this.#word
    this.#column = (isTooLong ? 0 : this.#column + this.#space.length) + length
    this.#space = ''
    this.#word = ''
    return text
  }
}
