import { assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeText } from '../authoring.ts'

const all = {
  lowerCase: true,
  stripDiacritics: true,
  joinSpacedLetters: true,
  collapseWhitespace: true,
}

describe('what hides a word is undone', () => {
  test.each([
    ['zero-width characters', 'i\u200bg\u200dn\u2060o\ufeffr\u00ade', 'ignore'],
    ['bidi controls', '\u202eignore\u202c \u2066it\u2069', 'ignore it'],
    ['control characters', 'ig\u0000no\u0008re', 'ignore'],
    ['tag characters', 'a\u{e0069}\u{e0067}\u{e006e}', 'aign'],
    ['full-width letters', 'ｉｇｎｏｒｅ', 'ignore'],
    ['mathematical letters', '𝐢𝗴𝓷𝕠𝖗𝚎', 'ignore'],
    ['small capitals and letters in boxes', 'ɪɢɴᴏʀᴇ 🅸🅶', 'ignore IG'],
    ['ligatures', 'ﬁle', 'file'],
    ['Cyrillic letters in a Latin word', 'ignоrе', 'ignore'],
    ['Greek letters in a Latin word', 'ignοrε', 'ignore'],
  ])('%s', (_, hidden, plain) => {
    const { text } = normalizeText(hidden)

    expect(text).toBe(plain)
  })

  test.each([
    ['letters with spaces', 'i g n o r e  a l l', 'ignore all'],
    ['letters with other separators', 'i-g-n-o-r-e i.t.s.e', 'ignore itse'],
    ['accents', 'précédentes i̶g̶n̶o̶r̶e̶', 'precedentes ignore'],
    ['white space', 'a \t b\r\n\n c', 'a b\nc'],
    ['capitals', 'IGNORE İ', 'ignore i'],
  ])('%s, where asked', (_, hidden, plain) => {
    const { text } = normalizeText(hidden, all)

    expect(text).toBe(plain)
  })
})

test.each([
  ['Russian', 'Привет, сор'],
  ['Greek', 'ροή'],
  ['two single letters', 'a b'],
  ['code', 'if (a)\n\treturn  b\n'],
  ['the flag of England', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', '🏴'],
])('%s is not rewritten', (_, given, expected = given) => {
  const { text } = normalizeText(given, { joinSpacedLetters: true })

  expect(text).toBe(expected)
})

test('a stretch leads back to the stretch that it was made of', () => {
  const original = 'x ﬁ\u200bnd \u{1d422}\u0000t  i-g-n-o'
  const { text, toOriginal, toOriginalSpan } = normalizeText(original, all)
  const back = (word: string) => {
    const at = text.indexOf(word)
    const { start, end } = toOriginalSpan(at, at + word.length)
    return original.slice(start, end)
  }

  expect(text).toBe('x find it igno')
  expect(back('find')).toBe('ﬁ\u200bnd')
  expect(back('it')).toBe('\u{1d422}\u0000t')
  expect(back('igno')).toBe('i-g-n-o')
  expect(toOriginal(text.indexOf('nd'))).toBe(original.indexOf('nd'))
  expect(toOriginal(text.length)).toBe(original.length)
})

test('every index leads into the original, and none before its predecessor', () => {
  const anything = property(string({ unit: 'binary', maxLength: 60 }), (original) => {
    const { text, toOriginal, toOriginalSpan } = normalizeText(original, all)
    let last = 0
    for (let at = 0; at < text.length; at++) {
      const { start, end } = toOriginalSpan(at, at + 1)
      expect(start).toBe(toOriginal(at))
      expect(start).toBeGreaterThanOrEqual(last)
      expect(end).toBeGreaterThan(start)
      expect(end).toBeLessThanOrEqual(original.length)
      last = start
    }
  })

  assert(anything)
})

test('text of plain characters stays as it is', () => {
  const ascii = property(string({ unit: 'grapheme-ascii' }), (original) => {
    const { text, toOriginal } = normalizeText(original)
    expect(text).toBe(original)
    expect(toOriginal(1)).toBe(Math.min(1, original.length))
  })

  assert(ascii)
})

test.each(['a b ', '\u0301\u0323', '\ufdfa', 'a\u200b', '👨‍👩‍👧', 'aо', '\ud800', ' \n', '忽略'])(
  '250,000 characters of %j take less than 2 s',
  (piece) => {
    const text = piece.repeat(250_000 / piece.length)
    const start = performance.now()

    const normalized = normalizeText(text, all)

    expect(normalized.text.length).toBeLessThanOrEqual(4 * text.length)
    expect(performance.now() - start).toBeLessThan(2_000)
  },
)
