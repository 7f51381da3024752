/**
 * Estimates the tokens of a text from the kinds of its characters, in one pass. It aims between the
 * vocabularies `o200k_base` and `cl100k_base`; what it was measured at is in the README of
 * `@lamella/middleware-truncate`.
 * @example
 * ```ts
 * import { estimateTokens } from '@lamella/text'
 *
 * console.log(estimateTokens('How many tokens does this take?')) // 7
 * ```
 */
export function estimateTokens(text: string): number {
  return Math.ceil(tokenWeight(text))
}

/** The estimate as a fraction, so that those of the words of a text add up to that of the text. */
export function tokenWeight(text: string): number {
  let tokens = 0
  let at = 0
  while (at < text.length) {
    const from = at
    const code = text.charCodeAt(at)
    const kind = kindOf(code)
    let accents = isAccented(code) ? 1 : 0
    while (++at < text.length) {
      const next = text.charCodeAt(at)
      if (kindOf(next) !== kind) break
      if (isAccented(next)) accents++
    }
    tokens += tokensOf(kind, at - from, accents > 0)
  }
  return tokens
}

type Kind = number

// In the order of the costs in `perCharacter`, then those whose runs have rules of their own.
const greekOrCyrillic: Kind = 0
const otherScript: Kind = 1
const symbol: Kind = 2
const ideograph: Kind = 3
const halfOfPair: Kind = 4
const wide: Kind = 5
const letter: Kind = 6
const capital: Kind = 7
const digit: Kind = 8
const space: Kind = 9
const lineBreak: Kind = 10
const mark: Kind = 11
const perCharacter: readonly number[] = [0.42, 0.6, 1.4, 0.85, 1.3, 1.6]

function kindOf(code: number): Kind {
  if (code < 0x80) {
    if (code >= 97 && code <= 122) return letter
    if (code === 32) return space
    if (code >= 65 && code <= 90) return capital
    if (code >= 48 && code <= 57) return digit
    return code >= 9 && code <= 13 ? lineBreak : mark
  }
  if (code < 0xc0) return symbol
  if (code < 0x250) return letter
  if (code < 0x530) return greekOrCyrillic
  if (code >= 0x1e00 && code < 0x1f00) return letter
  if (code < 0x2000) return otherScript
  if (code < 0x2e80) return symbol
  if (code < 0xd800) return ideograph
  if (code < 0xe000) return halfOfPair
  return code >= 0xf900 && code < 0xfb00 ? ideograph : wide
}

/** Of letters: beyond ASCII. */
function isAccented(code: number): boolean {
  return code >= 0x80
}

/**
 * Estimates the tokens of consecutive characters of one kind. A single space belongs to the next
 * word.
 */
function tokensOf(kind: Kind, length: number, accented: boolean): number {
  switch (kind) {
    case letter:
      // Common words are one token. Those of other languages are cut into more pieces.
      return accented ? 1 + Math.max(0, length - 3) / 2.5 : 1 + Math.max(0, length - 8) / 4
    case capital:
      return length === 1 ? 0.2 : length / 2.7
    case digit:
      return Math.ceil(length / 3)
    case space:
      return length === 1 ? 0 : 0.8
    case lineBreak:
      return 0.7
    case mark:
      return 0.85 + Math.max(0, length - 2) * 0.45
    default:
      return length * perCharacter[kind]!
  }
}
