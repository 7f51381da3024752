import type { JsonValue } from './parse-json.ts'

/**
 * Reads JSON with the mistakes that models make: other quotes or none, quotes and line breaks within
 * strings, comments, missing or surplus commas, Python's constants, missing brackets at the end.
 * Linear in the length of the text. Returns `undefined` if the text cannot be read. Never throws.
 */
export function mendJson(text: string): JsonValue | undefined {
  const reader = new Mender(text)
  try {
    const value = reader.value(0)
    return reader.isAtEnd() ? { value } : undefined
  } catch (error) {
    if (error === senseless) return undefined
    throw error
  }
}

const senseless = new Error('this is not nearly JSON')
const maxDepth = 200
/** Opening quotes with the quotes that close them. */
const quotes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['‘', '’'],
])
const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['none', null],
  ['undefined', null],
  ['nan', null],
])
const escapes: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

class Mender {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#skip()
    return this.#at >= this.#text.length
  }

  value(depth: number): unknown {
    this.#skip()
    const char = this.#text[this.#at]
    if (depth > maxDepth || char === undefined) throw senseless
    if (char === '{') return this.#object(depth + 1)
    if (char === '[') return this.#list(depth + 1)
    return quotes.has(char) ? this.#string() : this.#bare()
  }

  #object(depth: number): unknown {
    const entries = new Map<string, unknown>()
    this.#at++
    while (!this.#ends('}')) {
      const key = this.#key()
      this.#skip()
      if (this.#text[this.#at] !== ':') {
        // Cut off behind a key.
        if (this.#at >= this.#text.length) break
        throw senseless
      }
      this.#at++
      this.#skip()
      const isMissing = /^[,}]?$/.test(this.#text[this.#at] ?? '')
      if (isMissing && this.#at >= this.#text.length) break
      entries.set(key, isMissing ? null : this.value(depth))
    }
    return Object.fromEntries(entries)
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = []
    this.#at++
    while (!this.#ends(']')) list.push(this.value(depth))
    return list
  }

  /** Skips commas. Returns true at the end of a list or an object, or at the end of the text. */
  #ends(close: string): boolean {
    this.#skip()
    while (this.#text[this.#at] === ',') {
      this.#at++
      this.#skip()
    }
    const char = this.#text[this.#at]
    if (char === undefined) return true
    if (char === close) {
      this.#at++
      return true
    }
    if (char === '}' || char === ']' || char === ':') throw senseless
    return false
  }

  #key(): string {
    if (quotes.has(this.#text[this.#at]!)) return this.#string()
    const [word] = this.#match(/[\p{L}\p{N}_$.-]+/uy)
    if (word === undefined) throw senseless
    return word
  }

  #bare(): unknown {
    const [word] = this.#match(/[^\s,:[\]{}"']+/y)
    if (word === undefined) throw senseless
    const known = constants.get(word.toLowerCase())
    if (known !== undefined) return known
    if (word.startsWith('...')) throw senseless
    const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(word)
    if (number && !/^-?0\d/.test(word)) return Number(word)
    // Cut off within a constant.
    const isCut = this.#at >= this.#text.length
    const begun = [...constants.keys()].find((constant) => constant.startsWith(word))
    if (isCut && begun !== undefined) return constants.get(begun)
    const [more = ''] = this.#match(/[^,:[\]{}"'\n]*/y)
    if (!/^[,}\]\n]?$/.test(this.#text[this.#at] ?? '')) throw senseless
    return (word + more).trim()
  }

  #string(): string {
    const close = quotes.get(this.#text[this.#at]!)!
    let read = ''
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!
      if (char === '\\') read += this.#escape()
      else if (char !== close) read += char
      else if (this.#closes()) {
        this.#at++
        return read
      } else read += char
    }
    // The place where the string should end is unknown.
    throw senseless
  }

  /** Returns true if a quote ends its string: the characters behind it must be able to follow a string. */
  #closes(): boolean {
    let next = this.#at + 1
    while (/^\s$/.test(this.#text[next] ?? '')) next++
    const char = this.#text[next]
    return char === undefined || ',:}]/#'.includes(char) || quotes.has(char)
  }

  #escape(): string {
    const char = this.#text[++this.#at]
    if (char === undefined) return ''
    if (char !== 'u') return escapes.get(char) ?? char
    const digits = this.#text.slice(this.#at + 1, this.#at + 5)
    if (!/^[\da-f]{4}$/i.test(digits)) {
      // Cut off within an escape.
      if (this.#at + 5 < this.#text.length) throw senseless
      this.#at = this.#text.length
      return ''
    }
    this.#at += 4
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  /** Skips white space and comments. */
  #skip(): void {
    const { length } = this.#text
    for (;;) {
      this.#match(/\s+/y)
      const two = this.#text.slice(this.#at, this.#at + 2)
      if (two !== '//' && two !== '/*') return
      const end = this.#text.indexOf(two === '//' ? '\n' : '*/', this.#at + 2)
      this.#at = end < 0 ? length : end + (two === '//' ? 1 : 2)
    }
  }

  #match(pattern: RegExp): readonly string[] {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return []
    this.#at = pattern.lastIndex
    return found
  }
}
