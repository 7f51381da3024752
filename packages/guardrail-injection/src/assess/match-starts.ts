/** The beginning of a match. An open one goes up to what is not known. */
interface Start {
  readonly text: string
  readonly isOpen: boolean
}

/** Letters of a beginning that are read. */
const startChars = 4

/** Beginnings of a pattern that are read; one with more is searched for in every text. */
const mostStarts = 500

const wordStart = /^(?:\(\?<!\\b[a-z ]+\))?\\b/

/**
 * Returns the beginnings that matches of a pattern may have, of four characters or fewer. Each match begins with one
 * of them, at the start of a word if that is a letter or a digit. Returns `undefined` for a pattern of which that
 * cannot be told.
 */
export function startsOf({ source, flags }: RegExp): ReadonlySet<string> | undefined {
  if (flags !== 'g') return undefined
  const reader = new StartReader(source)
  const starts = reader.sequence()
  const isRead = reader.at === source.length && starts.length <= mostStarts
  const texts = new Set(starts.map(({ text }) => text))
  const first = wordStart.test(source) ? /^\w/ : /^\W/
  return isRead && [...texts].every((text) => first.test(text)) ? texts : undefined
}

/** Reads the beginnings of a pattern. What it does not know ends a beginning, so none is too long. */
class StartReader {
  readonly #source: string
  at = 0

  constructor(source: string) {
    this.#source = source
  }

  sequence(): readonly Start[] {
    let starts: readonly Start[] = [nothing]
    while (this.at < this.#source.length && !'|)'.includes(this.#source[this.at]!)) {
      if (starts.length > mostStarts || !starts.some(({ isOpen }) => isOpen)) {
        this.#skip()
        break
      }
      const item = this.#letters() ?? this.#item()
      const quantifier = this.#quantifier()
      if (quantifier === '') starts = item ? joined(starts, item) : starts.map(closed)
      else if (quantifier === '?' && item) starts = [...starts, ...joined(starts, item)]
      else starts = starts.map(closed)
    }
    return starts
  }

  #alternatives(): readonly Start[] {
    const all = [...this.sequence()]
    while (this.#source[this.at] === '|') {
      this.at++
      all.push(...this.sequence())
    }
    return all
  }

  /** Moves to the end of a sequence of which no beginning grows. */
  #skip(): void {
    for (let depth = 0; ; this.at++) {
      plain.lastIndex = this.at
      this.at += plain.exec(this.#source)![0].length
      const sign = this.#source[this.at]
      if (sign === undefined || (depth === 0 && sign !== '(')) return
      if (sign === '(') depth++
      else if (sign === ')') depth--
    }
  }

  /** Reads letters that stand for themselves. */
  #letters(): readonly Start[] | undefined {
    letters.lastIndex = this.at
    const [text] = letters.exec(this.#source) ?? ['']
    this.at += text.length
    return text === '' ? undefined : [{ text, isOpen: true }]
  }

  /** Reads one item. Returns `undefined` for one of which the text is not known. */
  #item(): readonly Start[] | undefined {
    const sign = this.#source[this.at++]!
    if (sign === '(') return this.#group()
    if (sign === '[') return this.#class()
    if (sign === '\\') return this.#escape()
    if (sign === '^' || sign === '$') return [nothing]
    return sign === '.' ? undefined : [{ text: sign, isOpen: true }]
  }

  #group(): readonly Start[] {
    const [kind = ''] = /^\?(?::|<?[=!])|/.exec(this.#source.slice(this.at))!
    this.at += kind.length
    const inner = this.#alternatives()
    this.at++
    // What stands before or behind takes no place.
    return kind === '?:' ? inner : kind === '' ? inner : [nothing]
  }

  #class(): readonly Start[] | undefined {
    const [inner] = /^(?:\\[^]|[^\]\\])*/.exec(this.#source.slice(this.at))!
    this.at += inner.length + 1
    const texts = inner.replace(/\\u([\da-f]{4})|\\(\W)/g, (_, code?: string, sign?: string) =>
      code === undefined ? sign! : String.fromCharCode(Number.parseInt(code, 16)),
    )
    if (/^\^|\\|.-./.test(inner.replaceAll(/\\(?:u[\da-f]{4}|\W)/g, '.'))) return undefined
    return Array.from(texts, (text) => ({ text, isOpen: true }))
  }

  #escape(): readonly Start[] | undefined {
    const sign = this.#source[this.at++]!
    if (sign === 'b') return [nothing]
    return /\w/.test(sign) ? undefined : [{ text: sign, isOpen: true }]
  }

  #quantifier(): string {
    const [found] = /^(?:[?*+]|\{\d[\d,]*\})?\??/.exec(this.#source.slice(this.at))!
    this.at += found.length
    return found
  }
}

/** All but groups and alternatives. */
const plain = /(?:[^\\[()|]|\\[^]|\[(?:\\[^]|[^\]\\])*\])*/y
const letters = /[a-z' ]+(?![?*+{])/y
const nothing: Start = { text: '', isOpen: true }

const closed = ({ text }: Start): Start => ({ text, isOpen: false })

function joined(starts: readonly Start[], next: readonly Start[]): readonly Start[] {
  const all = starts.flatMap((start) =>
    start.isOpen
      ? next.map(({ text, isOpen }) => {
          const both = (start.text + text).slice(0, startChars)
          return { text: both, isOpen: isOpen && both.length < startChars }
        })
      : [start],
  )
  return [...new Map(all.map((start) => [`${start.text}${start.isOpen}`, start])).values()]
}
