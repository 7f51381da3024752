import { normalizeText } from '@lamella/core/authoring'
import { openPrivateKey } from './secrets.ts'
import { separators } from './separators.ts'

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
 * The index from which on a text that goes on may still have an open match: the last word, the words
 * before it as long as they may be parts of one number, and a private key that has not ended.
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

/** Whether a word may be a part of a number in groups, or of a bank account as in `GB29 NWBK`. */
function isPart(text: string, word: number, end: number, from: number): boolean {
  if (partOfNumber.test(text.slice(word, end))) return true
  if (end - word !== 4) return false
  const gap = start(text, word, from, true)
  return accountHead.test(text.slice(start(text, gap, from, false), gap))
}

/** Returns the index behind which all characters up to `end` are blank, or all are part of a word. */
function start(text: string, end: number, from: number, blank: boolean): number {
  let at = end
  while (at > from && (blank ? isBlank(text, at - 1) : !isSeparator(text, at - 1))) at--
  return at
}

/**
 * The same for a text as it came. `maxChars` is the length of the longest match that other words may be in.
 */
export function pendingFrom(text: string, from: number, maxChars: number): number {
  const read = normalizeText(text, { homoglyphs: false })
  const open = read.toOriginal(openFrom(read.text, 0))
  const tail = maxChars > 0 ? start(text, Math.max(0, text.length - maxChars), 0, false) : open
  return Math.max(from, Math.min(open, tail))
}
