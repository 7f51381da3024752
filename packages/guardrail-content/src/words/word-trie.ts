import { hasLettersBefore, hasLettersBehind, isLetter } from './word-edge.ts'

/** Result of reading from an index. */
export interface Walk<Value> {
  /** Longest word that begins at the index. */
  readonly found?: { readonly end: number; readonly value: Value } | undefined
  /** True if more text could complete a word or a longer one. */
  readonly isOpen: boolean
}

export interface WordTrieOptions {
  /** Matches whole words only. */
  readonly wholeWord: boolean
  /** Reads `sh1t`, `s.h.i.t` and `shiiit` as `shit`. */
  readonly leet: boolean
}

interface Node<Value> {
  readonly letter: string
  readonly next: Map<string, Node<Value>>
  word?: {
    readonly value: Value
    readonly isStem: boolean
    /** Number of the word's own characters that could replace letters. */
    readonly signs: number
  }
}

/** Finds words of a list in a text. The cost of each place does not depend on the length of the list. */
export class WordTrie<Value> {
  readonly #options: WordTrieOptions
  readonly #root: Node<Value> = { letter: '', next: new Map() }
  /** Second characters of words by their first character. */
  readonly #pairs: (Uint8Array | undefined)[] = []
  #longest = 0

  constructor(options: WordTrieOptions) {
    this.#options = options
  }

  /** Length of the longest word. */
  get longest(): number {
    return this.#longest
  }

  /** Returns true if a word may begin with two characters, the first of them plain ASCII. `NaN` is a missing second one. */
  mayBegin(first: number, second: number): boolean {
    if (this.#options.leet) return true
    const known = this.#pairs[first]
    return known !== undefined && (!(second < 0x7f) || known[second] === 1)
  }

  /** Adds a word. A `*` at its end matches further letters. */
  add(word: string, value: Value): void {
    const isStem = word.endsWith('*')
    const letters = isStem ? word.slice(0, -1) : word
    this.#addPair(letters)
    let node = this.#root
    for (const letter of letters.split('').map(keyOf)) {
      const next = node.next.get(letter) ?? { letter, next: new Map() }
      node.next.set(letter, next)
      node = next
    }
    node.word = { value, isStem, signs: countSigns(letters) }
    this.#longest = Math.max(this.#longest, letters.length)
  }

  /** Notes the first two characters of a word, in every spelling. */
  #addPair(letters: string): void {
    for (const first of writtenAs(letters.charCodeAt(0))) {
      const known = (this.#pairs[first] ??= new Uint8Array(0x80))
      if (letters.length === 1) known.fill(1)
      for (const second of writtenAs(letters.charCodeAt(1))) known[second] = 1
    }
  }

  /** Reads from an index. `final` means that the text is complete. */
  walk(text: string, at: number, final: boolean): Walk<Value> {
    const { wholeWord, leet } = this.#options
    if (!leet && !this.#root.next.has(keyOf(text[at]!))) return nothing
    // A drawn-out letter was read from its beginning.
    if (leet && isDrawnOut(text, at, true)) return nothing
    const first = this.#after([this.#root], text[at]!)
    if (first.length === 0) return nothing
    const inWord = wholeWord && hasLettersBefore(text, at)
    const nodes = inWord ? first.filter(({ letter }) => !isLetter(letter, 0)) : first
    const whole = this.#follow(text, at, nodes, final)
    const between = text[at + 1]
    if (!leet || between === undefined || !spacing.test(between)) return whole
    const spaced = this.#follow(text, at, nodes, final, between)
    return { found: spaced.found ?? whole.found, isOpen: spaced.isOpen || whole.isOpen }
  }

  /** Continues behind the first letter. `between` is the separator of the letters. */
  #follow(
    text: string,
    start: number,
    first: readonly Node<Value>[],
    final: boolean,
    between = '',
  ): Walk<Value> {
    const gap = between.length
    let found: Walk<Value>['found']
    let nodes = first
    let letters = 1
    let signs = countSigns(text[start]!)
    for (let end = start + 1; nodes.length > 0; end += 1 + gap) {
      for (const { letter, word } of nodes) {
        if (word === undefined) continue
        const last = word.isStem ? endOfLetters(text, end) : end
        if (!this.#mayEnd(text, last, letter, between)) continue
        // A word mostly of signs that replace letters is a number or a code.
        if (this.#options.leet && (signs - word.signs) * 2 > letters) continue
        found = { end: last, value: word.value }
        if (last + 2 * gap >= text.length && !final) return { found, isOpen: true }
      }
      const at = end + gap
      if (at >= text.length) return { found, isOpen: !final }
      if (!text.startsWith(between, end)) break
      const isStretched = this.#options.leet && gap === 0 && isDrawnOut(text, at, final)
      const after = this.#after(nodes, text[at]!)
      letters++
      signs += countSigns(text[at]!)
      nodes = isStretched ? [...after, ...nodes.filter((node) => !after.includes(node))] : after
    }
    return { found, isOpen: false }
  }

  #mayEnd(text: string, end: number, letter: string, between: string): boolean {
    if (between !== '') return !isSpacedLetter(text, end, between)
    return !this.#options.wholeWord || !isLetter(letter, 0) || !hasLettersBehind(text, end)
  }

  #after(nodes: readonly Node<Value>[], unit: string): readonly Node<Value>[] {
    const after: Node<Value>[] = []
    const letters = keyOf(unit) + ((this.#options.leet && lookAlikes[unit]) || '')
    for (const node of nodes) {
      for (const letter of letters) {
        const next = node.next.get(letter)
        if (next !== undefined) after.push(next)
      }
    }
    return after
  }
}

const nothing: Walk<never> = { isOpen: false }

/** Returns true for the second or a later one of three or more equal characters. */
function isDrawnOut(text: string, at: number, final: boolean): boolean {
  if (text[at - 1] !== text[at]) return false
  if (text[at - 2] === text[at] || text[at + 1] === text[at]) return true
  return at + 1 === text.length && !final
}

function countSigns(text: string): number {
  let signs = 0
  for (const unit of text) if (Object.hasOwn(lookAlikes, unit)) signs++
  return signs
}

/** Returns true if another separated letter follows. */
function isSpacedLetter(text: string, at: number, between: string): boolean {
  return text[at] === between && isLetter(text, at + 1) && !isLetter(text, at + 2)
}

function keyOf(unit: string): string {
  return unit === '-' || unit === '_' || unit === '\n' ? ' ' : unit
}

/** Returns the ASCII spellings of a character: capitals, and every kind of blank. */
function writtenAs(code: number): readonly number[] {
  const letter = String.fromCharCode(code)
  return Array.from({ length: 0x7f }, (_, each) => each).filter((each) => {
    const unit = each === 9 ? ' ' : String.fromCharCode(each).toLowerCase()
    return keyOf(unit) === keyOf(letter)
  })
}

function endOfLetters(text: string, from: number): number {
  let end = from
  while (end - from < stemChars && isLetter(text, end)) end++
  return end
}

/** Maximum number of letters behind a stem. */
const stemChars = 32
const spacing = /^[ .,*|/_-]$/
const lookAlikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'il',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'il',
  '+': 't',
}
