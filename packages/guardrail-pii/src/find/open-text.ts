import { normalizeText, readMarkup } from '@lamella/text'
import { openPrivateKey } from '../recognizers/secrets.ts'
import { plainAscii, separators } from '../base/separators.ts'

const separator = new RegExp(`[${separators}]`)
const isSeparator = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 0x80 ? code === 32 || (code > 8 && code < 14) : separator.test(text[at]!)
}
const isBlank = (text: string, at: number): boolean => ' \t\r\n\u00a0'.includes(text[at]!)
// Words that a number in groups may be made of.
const partOfNumber = /\d|^(?:[A-Z]{1,4}|[-+().,:/#–]+|ext\.?|x)$/
const accountHead = /^[A-Za-z]{2}\d{2}$/

/**
 * Returns the index from which a growing text may have an open match: the last word, the words before it that
 * may be parts of the same number, and an unfinished private key.
 */
export function openFrom(text: string, from: number): number {
  let open = start(text, openPrivateKey(text, from) ?? text.length, from, false)
  for (;;) {
    const gap = start(text, open, from, true)
    const isNear = open - gap <= 3 && !/[\r\n]/.test(text.slice(gap, open))
    const word = start(text, gap, from, false)
    if (!isNear || word === gap || !isPart(text, word, gap, from)) break
    open = word
  }
  return open
}

/** Returns true for a word that may be part of a number in groups, or of a bank account as in `GB29 NWBK`. */
function isPart(text: string, word: number, end: number, from: number): boolean {
  if (partOfNumber.test(text.slice(word, end))) return true
  if (end - word !== 4) return false
  const gap = start(text, word, from, true)
  return accountHead.test(text.slice(start(text, gap, from, false), gap))
}

/** Returns the index from which all characters up to `end` are blank, or all are part of a word. */
function start(text: string, end: number, from: number, blank: boolean): number {
  let at = end
  while (at > from && (blank ? isBlank(text, at - 1) : !isSeparator(text, at - 1))) at--
  return at
}

function openIn(text: string): number {
  const read = normalizeText(text, { homoglyphs: false })
  return read.toOriginal(openFrom(read.text, 0))
}

/**
 * Returns the same index for the original text. `maxChars` is the length of the longest match with other words in it.
 */
export function pendingFrom(text: string, from: number, maxChars: number): number {
  const markup = readMarkup(text, false)
  const open = openAt(text, maxChars)
  const inMarkup = markup?.toOriginal(openAt(markup.text, maxChars)) ?? open
  return Math.max(from, Math.min(open, inMarkup))
}

function openAt(text: string, maxChars: number): number {
  const open = plainAscii.test(text) ? openFrom(text, 0) : openIn(text)
  return maxChars > 0
    ? Math.min(open, start(text, Math.max(0, text.length - maxChars), 0, false))
    : open
}
