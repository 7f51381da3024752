/** Follows the brackets of JSON that arrives in pieces. Reads each character once. */
export class JsonProgress {
  #depth = 0
  #isInString = false
  #isEscaped = false

  /** Returns the offset behind the bracket that ends the value, or -1 before that. */
  add(text: string): number {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at) // \ is 5c, " is 22, brackets are 7b, 5b, 7d, 5d
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (code === 0x5c) this.#isEscaped = true
        else if (code === 0x22) this.#isInString = false
      } else if (code === 0x22) this.#isInString = true
      else if (code === 0x7b || code === 0x5b) this.#depth++
      else if (code === 0x7d || code === 0x5d) {
        this.#depth--
        if (this.#depth === 0) return at + 1
      }
    }
    return -1
  }
}
