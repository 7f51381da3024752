import type { NormalizedText } from '@lamella/text'
import { normalizeText, readMarkup } from '@lamella/text'
import { isAsciiLetter, isLetter } from './word-edge.ts'
import { WordTrie } from './word-trie.ts'

/** Words and patterns by category. */
export interface ContentRules {
  readonly words: readonly (readonly [category: string, words: readonly string[]])[]
  readonly patterns: readonly (readonly [category: string, patterns: readonly RegExp[]])[]
  readonly allow: readonly string[]
  readonly wholeWord: boolean
  readonly leet: boolean
  /** Length of the longest match of a pattern in UTF-16 units. */
  readonly holdChars: number
}

/** An unwanted range of a text. */
export interface ContentFinding {
  readonly start: number
  readonly end: number
  readonly category: string
}

interface Scan {
  readonly findings: readonly ContentFinding[]
  /** Allowed ranges. */
  readonly allowed: readonly ContentFinding[]
  /** Index from which more text may change the result. */
  readonly openFrom: number
}

/** Last scan. A stream asks for the findings of a text, and then for its open end. */
interface LastScan {
  readonly text: string
  readonly from: number
  readonly final: boolean
  readonly scan: Scan
}

/** Finds words and matches of patterns, also in disguised spellings. */
export class ContentSearch {
  readonly #words: WordTrie<string>
  readonly #allowed: WordTrie<true>
  readonly #patterns: readonly { readonly category: string; readonly pattern: RegExp }[]
  readonly #holdChars: number
  readonly #leet: boolean
  readonly #wholeWord: boolean
  #last: LastScan | undefined

  constructor({ words, patterns, allow, wholeWord, leet, holdChars }: ContentRules) {
    this.#leet = leet
    this.#wholeWord = wholeWord
    this.#words = new WordTrie({ wholeWord, leet })
    this.#allowed = new WordTrie({ wholeWord: true, leet: false })
    for (const [category, list] of words) {
      for (const word of list) this.#words.add(this.#read(word).text.trim(), category)
    }
    for (const word of allow) this.#allowed.add(this.#read(word).text.trim(), true)
    this.#patterns = patterns.flatMap(([category, list]) =>
      list.map((pattern) => ({ category, pattern: searchable(pattern) })),
    )
    this.#holdChars = holdChars
  }

  /** Returns findings that begin at `from` or later. `final` means that the text is complete. */
  scan(text: string, from: number, final: boolean): readonly ContentFinding[] {
    const found = this.#find(text, from, final)
    const markup = readMarkup(text, final)
    if (markup === undefined) return found
    const shown = this.#find(markup.text, indexOf(markup, from), final)
    return [
      ...found,
      ...shown
        .map(({ start, end, category }) => ({ ...markup.toOriginalSpan(start, end), category }))
        .filter(({ start, end }) => !found.some((one) => one.start <= start && end <= one.end)),
    ].toSorted((left, right) => left.start - right.start)
  }

  /** The index from which on the text may still be the start of a finding, or of a longer one. */
  pending(text: string, from: number): number {
    const markup = readMarkup(text, false)
    const open = this.#openFrom(text, from)
    return markup === undefined
      ? open
      : Math.min(open, markup.toOriginal(this.#openFrom(markup.text, indexOf(markup, from))))
  }

  #find(text: string, from: number, final: boolean): readonly ContentFinding[] {
    const { findings, allowed } = this.#scan(text, from, final)
    if (this.#patterns.length === 0) return findings
    return [...findings, ...this.#matches(text, from, allowed)].toSorted(
      (left, right) => left.start - right.start,
    )
  }

  #openFrom(text: string, from: number): number {
    const { openFrom } = this.#scan(text, from, false)
    return this.#patterns.length === 0
      ? openFrom
      : Math.min(openFrom, wordStart(text, text.length - this.#holdChars))
  }

  #scan(text: string, from: number, final: boolean): Scan {
    const last = this.#last
    if (last?.text === text && last.from === from && last.final === final) return last.scan
    const scan = this.#scanWords(text, from, final)
    // Not of a long text: it would be kept in memory.
    this.#last = text.length > mostKept ? undefined : { text, from, final, scan }
    return scan
  }

  #scanWords(text: string, from: number, final: boolean): Scan {
    if (this.#nextBegin(text, from, final) === text.length) {
      return { findings: none, allowed: none, openFrom: text.length }
    }
    const findings: ContentFinding[] = []
    const allowed: ContentFinding[] = []
    const read = this.#read(text)
    const open = final ? read.text.length : this.#openToken(read.text)
    const scanned = (openAt: number): Scan => {
      return { findings, allowed, openFrom: read.toOriginal(openAt) }
    }
    let allowedUntil = 0
    let done = indexOf(read, from)
    for (;;) {
      const at = this.#nextBegin(read.text, done, final)
      if (at >= open) return scanned(Math.max(done, open))
      const permit = this.#allowed.walk(read.text, at, final)
      if (permit.found !== undefined) {
        allowedUntil = Math.max(allowedUntil, permit.found.end)
        allowed.push({ ...read.toOriginalSpan(at, permit.found.end), category: '' })
      }
      const { found, isOpen } = this.#words.walk(read.text, at, final)
      if (isOpen || permit.isOpen) return scanned(at)
      if (found !== undefined && found.end > allowedUntil) {
        findings.push({ ...read.toOriginalSpan(at, found.end), category: found.value })
        done = found.end
      } else done = at + 1
    }
  }

  /** Returns the next index at which a word of the lists may begin, or the length of the text. */
  #nextBegin(text: string, from: number, final: boolean): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const isPlain = code < 0x7f && (code > 0x1f || code === 9 || code === 10)
      if (!isPlain) return at
      if (
        this.#wholeWord &&
        at > 0 &&
        isAsciiLetter(code) &&
        isAsciiLetter(text.charCodeAt(at - 1))
      )
        continue
      const next = at + 1 < text.length ? text.charCodeAt(at + 1) : final ? 0x20 : NaN
      if (this.#words.mayBegin(code, next) || this.#allowed.mayBegin(code, next)) return at
    }
    return text.length
  }

  #read(text: string): NormalizedText {
    const stripDiacritics = this.#leet
    return normalizeText(text, { lowerCase: true, collapseWhitespace: true, stripDiacritics })
  }

  /** Returns the start of a last word that further letters may change. */
  #openToken(text: string): number {
    const longest = Math.max(this.#words.longest, this.#allowed.longest)
    let start = text.length
    while (text.length - start <= longest && isLetter(text, start - 1)) start--
    return /[\u0080-\uffff]/.test(text.slice(start)) ? start : text.length
  }

  #matches(text: string, from: number, allowed: readonly ContentFinding[]): ContentFinding[] {
    if (this.#patterns.length === 0) return []
    const read = normalizeText(text)
    const start = indexOf(read, from)
    return this.#patterns.flatMap(({ category, pattern }) => {
      pattern.lastIndex = start
      return Array.from(read.text.matchAll(pattern), ({ index, 0: match }) => ({
        ...read.toOriginalSpan(index, index + match.length),
        category,
      })).filter(
        (found) =>
          found.start < found.end &&
          !allowed.some(({ start: first, end }) => first <= found.start && found.end <= end),
      )
    })
  }
}

const mostKept = 4096
const none: readonly ContentFinding[] = []

/** The first index of a reading that is not before one of the original. */
function indexOf(read: NormalizedText, original: number): number {
  let [low, high] = [0, Math.max(0, read.text.length)]
  while (low < high) {
    const middle = (low + high) >> 1
    if (read.toOriginal(middle) < original) low = middle + 1
    else high = middle
  }
  return low
}

/** A pattern that finds all its matches, wherever an earlier search has ended. */
function searchable({ source, flags }: RegExp): RegExp {
  return new RegExp(source, `${flags.replace(/[gy]/g, '')}g`)
}

/** The start of the word at an index. */
function wordStart(text: string, index: number): number {
  for (let at = index; at > index - 64 && at > 0; at--) {
    if (text.charCodeAt(at - 1) <= 32) return at
  }
  return Math.max(0, index)
}
