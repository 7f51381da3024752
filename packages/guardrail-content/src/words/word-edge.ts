const anyLetter = /^[\p{L}\p{N}\p{M}]/u
// These write words without spaces between them.
const unspaced =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Returns true for an ASCII letter or digit. */
export function isAsciiLetter(code: number): boolean {
  return (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123)
}

/** Returns true if a letter, a digit or a mark is at an index. */
export function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code > 0x7f ? anyLetter.test(characterAt(text, at)) : isAsciiLetter(code)
}

/** Returns true if the word at an index has letters before it. */
export function hasLettersBefore(text: string, at: number): boolean {
  return isLetter(text, at - 1) && !isUnspaced(text, at - 1, at)
}

/** Returns true if the word that ends at an index has letters behind it. */
export function hasLettersBehind(text: string, at: number): boolean {
  return isLetter(text, at) && !isUnspaced(text, at - 1, at)
}

function isUnspaced(text: string, ...indices: readonly number[]): boolean {
  return indices.some((at) => text[at]! >= '\u0e00' && unspaced.test(characterAt(text, at)))
}

/** Returns the character at an index, which may be the second unit of a surrogate pair. */
function characterAt(text: string, at: number): string {
  const code = text.charCodeAt(at)
  const start = code >= 0xdc00 && code < 0xe000 ? Math.max(0, at - 1) : at
  return String.fromCodePoint(text.codePointAt(start)!)
}
