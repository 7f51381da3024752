/** Follows the brackets of a JSON object that arrives in pieces. Reads each character once. */
export class JsonProgress {
  #depth = 0
  #hasBegun = false
  #isInString = false
  #isEscaped = false

  /** True after the bracket that ends the object. */
  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0
  }

  /** True between the first bracket and the last. */
  get isOpen(): boolean {
    return this.#hasBegun && this.#depth > 0
  }

  add(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at) // \ is 5c, " is 22, brackets are 7b, 5b, 7d, 5d
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (code === 0x5c) this.#isEscaped = true
        else if (code === 0x22) this.#isInString = false
      } else if (code === 0x22) this.#isInString = true
      else if (code === 0x7b || code === 0x5b) {
        this.#depth++
        this.#hasBegun = true
      } else if (code === 0x7d || code === 0x5d) this.#depth--
    }
  }
}
