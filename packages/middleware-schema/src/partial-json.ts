/** Reads JSON piece by piece. */
export interface PartialJson {
  /** Adds the next piece of the text. */
  push(piece: string): void
  /**
   * Returns the value so far, with open strings, lists and objects closed. `undefined` before the first
   * value and after the first mistake. Open lists and objects are new at each call; complete ones are the
   * same objects.
   */
  value(): unknown
}

/** Reads the beginning of a JSON text. Returns `undefined` if it holds no value yet. */
export function parsePartialJson(text: string): unknown {
  const reader = partialJson()
  reader.push(text)
  return reader.value()
}

/** Creates a reader for JSON that arrives in pieces. Its work is linear in the length of the text. */
export function partialJson(): PartialJson {
  return new PartialJsonReader()
}

/** An open list or object. */
interface Frame {
  readonly list: unknown[] | undefined
  /** Properties so far. A map, since a key may be `__proto__`. */
  readonly entries: Map<string, unknown>
  key: string | undefined
  /** Tokens that may follow. */
  expects: 'first' | 'item' | 'colon' | 'value' | 'end'
}

/** An incomplete string, number or literal. */
interface Scalar {
  readonly kind: 'string' | 'number' | 'literal'
  text: string
}

/** Reads JSON piece by piece, and knows what its value costs. */
export class PartialJsonReader implements PartialJson {
  /** Open lists and objects with their items and properties: what `value()` copies. */
  open = 0
  readonly #stack: Frame[] = []
  #root: { readonly value: unknown } | undefined
  #failed = false
  #scalar: Scalar | undefined
  /** Characters of an unfinished escape in a string. */
  #escape: string | undefined

  push(piece: string): void {
    for (const char of piece) {
      if (this.#failed) return
      if (this.#scalar?.kind === 'string') this.#inString(this.#scalar, char)
      else if (this.#scalar !== undefined && isBare(char)) this.#inBare(this.#scalar, char)
      else {
        if (this.#scalar !== undefined) this.#endBare(this.#scalar)
        if (!this.#failed) this.#between(char)
      }
    }
  }

  value(): unknown {
    if (this.#failed) return undefined
    let inner = this.#openScalar()
    for (const { list, entries, key } of this.#stack.toReversed()) {
      if (list !== undefined) inner = { value: inner ? [...list, inner.value] : [...list] }
      else {
        const all = [...entries]
        if (inner && key !== undefined) all.push([key, inner.value])
        inner = { value: Object.fromEntries(all) }
      }
    }
    return (inner ?? this.#root)?.value
  }

  #inString(scalar: Scalar, char: string): void {
    if (this.#escape !== undefined) this.#inEscape(scalar, this.#escape + char)
    else if (char === '\\') this.#escape = ''
    else if (char === '"') this.#endString(scalar.text)
    else if (char < ' ') this.#failed = true
    else scalar.text += char
  }

  #inEscape(scalar: Scalar, escape: string): void {
    this.#escape = escape
    if (escape[0] === 'u') {
      if (!/^u[\da-fA-F]{0,4}$/.test(escape)) this.#failed = true
      if (escape.length < 5) return
      scalar.text += String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    } else if (escape in escapes) scalar.text += escapes[escape]!
    else this.#failed = true
    this.#escape = undefined
  }

  #endString(text: string): void {
    this.#scalar = undefined
    const top = this.#stack.at(-1)
    if (top === undefined || !isAtKey(top)) return this.#settle(text)
    top.key = text
    top.expects = 'colon'
  }

  #inBare(scalar: Scalar, char: string): void {
    scalar.text += char
    if (scalar.kind === 'literal' && !wordOf(scalar).startsWith(scalar.text)) this.#failed = true
  }

  #endBare(scalar: Scalar): void {
    this.#scalar = undefined
    const { kind, text } = scalar
    const isWhole = kind === 'number' ? number.test(text) : text === wordOf(scalar)
    if (isWhole) this.#settle(JSON.parse(text))
    else this.#failed = true
  }

  #between(char: string): void {
    const top = this.#stack.at(-1)
    const mayBegin = top === undefined ? this.#root === undefined : isAtValue(top)
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return
    if (char === '"' && (mayBegin || (top !== undefined && isAtKey(top)))) {
      this.#scalar = { kind: 'string', text: '' }
    } else if (char === ']' || char === '}') this.#close(top, char === ']')
    else if (char === ',' && top?.expects === 'end') top.expects = 'item'
    else if (char === ':' && top?.expects === 'colon') top.expects = 'value'
    else if (!mayBegin) this.#failed = true
    else if (char === '[' || char === '{') {
      const list = char === '[' ? [] : undefined
      this.#stack.push({ list, entries: new Map(), key: undefined, expects: 'first' })
      this.open++
    } else if (/[-\d]/.test(char)) this.#scalar = { kind: 'number', text: char }
    else if (char in literals) this.#scalar = { kind: 'literal', text: char }
    else this.#failed = true
  }

  #close(top: Frame | undefined, isList: boolean): void {
    const mayEnd = top?.expects === 'first' || top?.expects === 'end'
    if (top === undefined || !mayEnd || (top.list !== undefined) !== isList) {
      this.#failed = true
      return
    }
    this.#stack.pop()
    this.open -= 1 + (top.list?.length ?? top.entries.size)
    this.#settle(top.list ?? Object.fromEntries(top.entries))
  }

  #settle(value: unknown): void {
    const top = this.#stack.at(-1)
    if (top === undefined) {
      this.#root = { value }
      return
    }
    const before = top.entries.size
    if (top.list !== undefined) top.list.push(value)
    else top.entries.set(top.key!, value)
    this.open += top.list === undefined ? top.entries.size - before : 1
    top.key = undefined
    top.expects = 'end'
  }

  /** Returns the value of the open scalar so far, if it has one. */
  #openScalar(): { readonly value: unknown } | undefined {
    const scalar = this.#scalar
    const top = this.#stack.at(-1)
    if (scalar === undefined || (top !== undefined && isAtKey(top))) return undefined
    if (scalar.kind === 'string') return { value: scalar.text }
    if (scalar.kind === 'literal') return { value: JSON.parse(wordOf(scalar)) }
    const digits = scalar.text.replace(/\.?(?:[eE][+-]?)?$/, '')
    return number.test(digits) ? { value: Number(digits) } : undefined
  }
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Literals by their first letter. */
const literals: Readonly<Record<string, string>> = plain({ t: 'true', f: 'false', n: 'null' })
const escapes: Readonly<Record<string, string>> = plain({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})

/** Copies entries to an object without a prototype. */
function plain(entries: Record<string, string>): Record<string, string> {
  return Object.assign(Object.create(null) as Record<string, string>, entries)
}

function wordOf({ text }: Scalar): string {
  return literals[text[0]!]!
}

function isBare(char: string): boolean {
  return /^[\w+.-]$/.test(char)
}

function isAtKey({ list, expects }: Frame): boolean {
  return list === undefined && (expects === 'first' || expects === 'item')
}

function isAtValue({ list, expects }: Frame): boolean {
  return list === undefined ? expects === 'value' : expects === 'first' || expects === 'item'
}
