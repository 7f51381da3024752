/** Reads JSON piece by piece. */
export interface PartialJson {
  /** Takes in more of the text. */
  push(piece: string): void
  /**
   * What the text so far says, with all that is open closed; `undefined` before the first value and
   * from the first mistake on. Each call gives new objects for what is open, and the same ones for what
   * is complete.
   */
  value(): unknown
}

/** The value that the beginning of a JSON text says; `undefined` if there is none. */
export function parsePartialJson(text: string): unknown {
  const reader = partialJson()
  reader.push(text)
  return reader.value()
}

interface Frame {
  readonly list: unknown[] | undefined
  /** The properties so far; made into an object at the end, since keys may be `__proto__`. */
  readonly entries: Map<string, unknown> | undefined
  key: string | undefined
  /** What may come next. */
  expects: 'first' | 'item' | 'colon' | 'value' | 'end'
}

const literals: ReadonlyMap<string, readonly [string, unknown]> = new Map([
  ['t', ['true', true]],
  ['f', ['false', false]],
  ['n', ['null', null]],
] as const)
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Makes a reader of JSON that arrives in pieces. Its work is linear in the length of the text. */
export function partialJson(): PartialJson {
  const stack: Frame[] = []
  let root: { readonly value: unknown } | undefined
  let failed = false
  /** A string, number or literal that is not complete. */
  let scalar: { kind: 'string' | 'number' | 'literal'; text: string } | undefined
  /** What came of an escape in a string. */
  let escape: string | undefined

  const settle = (value: unknown): void => {
    const top = stack.at(-1)
    if (top === undefined) root = { value }
    else if (top.list !== undefined) top.list.push(value)
    else top.entries!.set(top.key!, value)
    if (top !== undefined) {
      top.key = undefined
      top.expects = 'end'
    }
  }
  const isKey = (): boolean => {
    const top = stack.at(-1)
    return top?.entries !== undefined && (top.expects === 'first' || top.expects === 'item')
  }
  const mayBegin = (): boolean => {
    const top = stack.at(-1)
    if (top === undefined) return root === undefined
    if (top.list !== undefined) return top.expects === 'first' || top.expects === 'item'
    return top.expects === 'value'
  }

  const inString = (char: string): void => {
    if (escape !== undefined) {
      escape += char
      if (escape[0] !== 'u') {
        const meant = escapes[escape]
        if (meant === undefined) failed = true
        else scalar!.text += meant
        escape = undefined
      } else if (escape.length > 1 && !/^[\da-fA-F]$/.test(char)) failed = true
      else if (escape.length === 5) {
        scalar!.text += String.fromCharCode(Number.parseInt(escape.slice(1), 16))
        escape = undefined
      }
    } else if (char === '\\') escape = ''
    else if (char === '"') {
      const { text } = scalar!
      scalar = undefined
      if (isKey()) {
        const top = stack.at(-1)!
        top.key = text
        top.expects = 'colon'
      } else settle(text)
    } else if (char < ' ') failed = true
    else scalar!.text += char
  }

  /** Ends a number or a literal. */
  const endBare = (): void => {
    const { kind, text } = scalar!
    scalar = undefined
    if (kind === 'number') {
      if (number.test(text)) settle(Number(text))
      else failed = true
    } else {
      const [word, value] = literals.get(text[0]!)!
      if (word === text) settle(value)
      else failed = true
    }
  }

  const close = (isList: boolean): void => {
    const top = stack.at(-1)
    const isOwn = top !== undefined && (top.list !== undefined) === isList
    if (!isOwn || (top.expects !== 'first' && top.expects !== 'end')) {
      failed = true
      return
    }
    stack.pop()
    settle(top.list ?? Object.fromEntries(top.entries!))
  }

  const take = (char: string): void => {
    if (scalar?.kind === 'string') return inString(char)
    if (scalar !== undefined) {
      if (/[\w+.-]/.test(char)) {
        scalar.text += char
        const word = literals.get(scalar.text[0]!)?.[0]
        if (scalar.kind === 'literal' && !word!.startsWith(scalar.text)) failed = true
        return
      }
      endBare()
      if (failed) return
    }
    const top = stack.at(-1)
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return
    if (char === '"' && (isKey() || mayBegin())) scalar = { kind: 'string', text: '' }
    else if (char === ']' || char === '}') close(char === ']')
    else if (char === ',' && top?.expects === 'end') top.expects = 'item'
    else if (char === ':' && top?.expects === 'colon') top.expects = 'value'
    else if (!mayBegin()) failed = true
    else if (char === '[')
      stack.push({ list: [], entries: undefined, key: undefined, expects: 'first' })
    else if (char === '{')
      stack.push({ list: undefined, entries: new Map(), key: undefined, expects: 'first' })
    else if (char === '-' || (char >= '0' && char <= '9')) scalar = { kind: 'number', text: char }
    else if (literals.has(char)) scalar = { kind: 'literal', text: char }
    else failed = true
  }

  /** What the open scalar says so far, if it says something. */
  const openScalar = (): { readonly value: unknown } | undefined => {
    if (scalar === undefined || (scalar.kind === 'string' && isKey())) return undefined
    if (scalar.kind === 'string') return { value: scalar.text }
    if (scalar.kind === 'literal') return { value: literals.get(scalar.text[0]!)![1] }
    const digits = scalar.text.replace(/(?:\.|\.?[eE][+-]?)$/, '').replace(/([eE][+-]?)$/, '')
    return number.test(digits) ? { value: Number(digits) } : undefined
  }

  return {
    push(piece) {
      for (const char of piece) {
        if (failed) return
        take(char)
      }
    },
    value() {
      if (failed) return undefined
      let inner = openScalar()
      for (let at = stack.length - 1; at >= 0; at--) {
        const { list, entries, key } = stack[at]!
        if (list !== undefined) inner = { value: inner ? [...list, inner.value] : [...list] }
        else {
          const all = [...entries!]
          if (inner && key !== undefined) all.push([key, inner.value])
          inner = { value: Object.fromEntries(all) }
        }
      }
      return (inner ?? root)?.value
    },
  }
}
