/** A piece of an answer's text, told apart from thinking between tags. */
export interface TaggedPiece {
  readonly isThinking: boolean
  readonly text: string
}

/**
 * Separates reasoning from text if a server leaves it in the text, between tags such as `<think>`
 * at its beginning. A possible half of a tag waits for the next piece.
 */
export class ThinkingTags {
  readonly #names: readonly string[]
  #state: 'start' | 'thinking' | 'behind' | 'text'
  #held = ''
  #end = ''

  /** With `beginsInThinking`, the tag that opens the reasoning stood in the prompt. */
  constructor(names: readonly string[], beginsInThinking = false) {
    this.#names = names
    const [first] = names
    this.#state = first === undefined ? 'text' : beginsInThinking ? 'thinking' : 'start'
    if (beginsInThinking) this.#end = `</${first}>`
  }

  /** True while nothing more can be thinking, so that pieces pass as they are. */
  get isOver(): boolean {
    return this.#state === 'text'
  }

  add(piece: string): TaggedPiece[] {
    const pieces: TaggedPiece[] = []
    this.#held += piece
    if (this.#state === 'start') this.#begin()
    if (this.#state === 'thinking') this.#think(pieces)
    if (this.#state === 'behind') this.#skip()
    if (this.#state === 'text') pieces.push({ isThinking: false, text: this.#take() })
    return pieces.filter(({ text }) => text !== '')
  }

  /** Returns the held text at the end of the answer. */
  rest(): TaggedPiece[] {
    const isThinking = this.#state === 'thinking'
    const text = this.#state === 'behind' ? '' : this.#take()
    return text === '' ? [] : [{ isThinking, text }]
  }

  #begin(): void {
    const text = this.#held.trimStart()
    const name = this.#names.find((each) => text.startsWith(`<${each}>`))
    if (name !== undefined) {
      this.#state = 'thinking'
      this.#end = `</${name}>`
      this.#held = text.slice(name.length + 2)
    } else if (!this.#names.some((each) => `<${each}>`.startsWith(text))) {
      this.#state = 'text'
    }
  }

  #think(pieces: TaggedPiece[]): void {
    const at = this.#held.indexOf(this.#end)
    if (at === -1) {
      const safe = this.#held.length - halfTag(this.#held, this.#end)
      pieces.push({ isThinking: true, text: this.#held.slice(0, safe) })
      this.#held = this.#held.slice(safe)
      return
    }
    pieces.push({ isThinking: true, text: this.#held.slice(0, at) })
    this.#held = this.#held.slice(at + this.#end.length)
    this.#state = 'behind'
  }

  #skip(): void {
    this.#held = this.#held.trimStart()
    if (this.#held !== '') this.#state = 'text'
  }

  #take(): string {
    const text = this.#held
    this.#held = ''
    return text
  }
}

/** How many characters at the end of the text may begin the tag. */
function halfTag(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
