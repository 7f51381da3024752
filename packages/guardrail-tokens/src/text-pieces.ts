import type { CountTokens } from '@lamella/text'

/** Maximum length of a piece in UTF-16 units. */
export const pieceChars = 64

/**
 * Returns the end of the piece that begins at an index, or `undefined` if more text is needed. Pieces begin
 * at single spaces, as the words of a vocabulary do, so that their tokens add up to those of the text.
 */
export function pieceEnd(text: string, start: number, final: boolean): number | undefined {
  for (let at = start + 1; at <= start + pieceChars; at++) {
    if (at + 1 >= text.length) return final ? text.length : undefined
    if (text[at] === ' ' && !isSpace(text[at - 1]!) && !isSpace(text[at + 1]!)) return at
  }
  const end = start + pieceChars
  const isPair = text.charCodeAt(end - 1) >>> 10 === 0x36
  return isPair ? end - 1 : end
}

/** Returns the length of the longest beginning of a text, in whole words, with at most `maxTokens` tokens. */
export function fittingChars(text: string, weigh: CountTokens, maxTokens: number): number {
  let tokens = 0
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start, true)!
    tokens += weigh(text.slice(start, end))
    if (tokens > maxTokens) return start
    start = end
  }
  return text.length
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r'
}
