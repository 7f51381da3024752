import { assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeText } from './index.ts'

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
    ['tag characters', 'a\u{e0069}\u{e0067}\u{e0020}\u{e006e}\u{e0001}\u{e007f}', 'aig n'],
    ['tag characters from the beginning', '\u{e0069}\u{e0067}', 'ig'],
    ['tag characters some way behind a flag', '🏴 \u{e0069}\u{e0067}', '🏴 ig'],
    ['full-width letters', 'ｉｇｎｏｒｅ', 'ignore'],
    ['mathematical letters', '𝐢𝗴𝓷𝕠𝖗𝚎', 'ignore'],
    ['small capitals and letters in boxes', 'ɪɢɴᴏʀᴇ 🅸🅶', 'ignore IG'],
    ['ligatures', 'ﬁle ㏂', 'file a.m.'],
    ['Cyrillic letters in a Latin word', 'ignоrе', 'ignore'],
    ['Greek letters in a Latin word', 'ignοrε', 'ignore'],
  ])('%s', (_, hidden, plain) => {
    const { text } = normalizeText(hidden)

    expect(text).toBe(plain)
  })

  test.each([
    ['letters with spaces', 'i g n o r e  a l l  𐐨 𐐩 𐐪', 'ignore all 𐐨𐐩𐐪'],
    ['letters with other separators', 'i-g-n-o-r-e i.t.s.e', 'ignore itse'],
    ['accents', 'précédentes i̶g̶n̶o̶r̶e̶', 'precedentes ignore'],
    ['strokes', 'Đừng nói, łódź, SØREN, ılık', 'dung noi, lodz, soren, ilik'],
    ['white space', 'a \t b\r\n\n c\td', 'a b\nc d'],
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
  ['a word with letters of its language', 'naïve'],
  ['a line break that is a control character', 'ï\r\u0085b'],
  ['code', 'if (a)\n\treturn  b\n'],
  ['the flag of England', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', '🏴'],
])('%s is not rewritten', (_, given, expected = given) => {
  const { text } = normalizeText(given, { joinSpacedLetters: true })

  expect(text).toBe(expected)
})

test('letters and their marks become one letter', () => {
  expect(normalizeText('e\u0301te\u0301').text).toBe('été')
})

test('the first of all marks is one, too', () => {
  expect(normalizeText('e\u0300').text).toBe(normalizeText('\u00e8').text)
})

test('a letter has at most 30 marks', () => {
  const { toOriginalSpan } = normalizeText(`x${'\u0301'.repeat(40)}`)

  expect(toOriginalSpan(0, 1)).toEqual({ start: 0, end: 31 })
})

test('each character of a pair leads back to the pair, and no other does', () => {
  const { toOriginalSpan } = normalizeText('\uffffb\u{1f600}')

  expect([toOriginalSpan(1, 2), toOriginalSpan(2, 3), toOriginalSpan(3, 4)]).toEqual([
    { start: 1, end: 2 },
    { start: 2, end: 4 },
    { start: 2, end: 4 },
  ])
})

test('letters beside a mark lead back to themselves', () => {
  const { toOriginalSpan } = normalizeText('Привет, e\u0301')

  expect(toOriginalSpan(1, 2)).toEqual({ start: 1, end: 2 })
})

test('an empty stretch leads back to an empty one', () => {
  const { toOriginalSpan } = normalizeText('a\u200bbc')

  expect([toOriginalSpan(0, 0), toOriginalSpan(1, 1), toOriginalSpan(3, 3)]).toEqual([
    { start: 0, end: 0 },
    { start: 2, end: 2 },
    { start: 4, end: 4 },
  ])
})

test('look-alike letters stay where that is asked for, spaced letters otherwise', () => {
  expect(normalizeText('ignоrе', { homoglyphs: false }).text).toBe('ignоrе')
  expect(normalizeText('i g n o r e').text).toBe('i g n o r e')
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

test('joined letters of plain text lead back to where they were', () => {
  const { text, toOriginalSpan } = normalizeText('x i-g-n-o', { joinSpacedLetters: true })

  expect([text, toOriginalSpan(2, 6)]).toEqual(['x igno', { start: 2, end: 9 }])
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
  'the text of 250,000 characters of %j is at most four times as long',
  (piece) => {
    const text = piece.repeat(250_000 / piece.length)

    const normalized = normalizeText(text, all)

    expect(normalized.text.length).toBeLessThanOrEqual(4 * text.length)
  },
)
