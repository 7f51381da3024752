import { readdirSync, readFileSync } from 'node:fs'
import { check } from 'recheck'
import { describe, expect, test } from 'vitest'
import { tooFast } from '../../../../tests/support/growth-of-exports.ts'
import { ContentSearch } from '../words/content-search.ts'
import { profanity } from '../words/profanity.ts'

const searches = {
  'whole words': { words: [['a', profanity]], wholeWord: true, leet: false },
  'parts of words, disguised': { words: [['a', profanity]], wholeWord: false, leet: true },
  'a long list': {
    words: [['a', Array.from({ length: 20_000 }, (_, index) => `word ${index} ${index % 7}`)]],
    wholeWord: true,
    leet: true,
  },
} as const

const hostile: readonly (readonly [name: string, unit: string, start?: string])[] = [
  ['one letter', 'a'],
  ['the start of a word', 'mother '],
  ['starts without an end', 'fu'],
  ['drawn out', 's'],
  ['a word that is drawn out', 't', 'shi'],
  ['spaced', 's h i '],
  ['separators', '- _-'],
  ['zero-width characters', '\u200b'],
  ['accents', 'e\u0301\u0302'],
  ['surrogates', '😀'],
  ['half characters', '\ud83d'],
  ['a script without spaces', 'バカ'],
  ['tag characters', '\u{e0041}'],
  ['look-alikes', '$1!|'],
]

describe.each(Object.entries(searches))('%s', (_name, rules) => {
  const search = new ContentSearch({
    ...rules,
    patterns: [],
    allow: ['word 1 1'],
    holdChars: 256,
  })

  test.each(hostile.map(([title, unit, start = '']) => ({ title, unit, start })))(
    'the work of a search is linear: $title',
    async ({ unit, start }) => {
      expect(await tooFast((text) => search.scan(start + text, 0, true), [unit])).toEqual([])
    },
  )
})

test('every regular expression of the package is safe', async () => {
  const folder = new URL('..', import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.includes('.test'),
  )
  const literal = /[=(\s]\/((?:\\.|\[[^\]]*\]|[^/\s\\*])(?:\\.|\[[^\]]*\]|[^/\\\n])*)\/([a-z]*)/g
  const patterns = sources.flatMap((name) => [
    ...readFileSync(new URL(name, folder), 'utf8').matchAll(literal),
  ])

  expect(patterns.length).toBeGreaterThan(6)
  for (const [, source, flags] of patterns) {
    const { status } = await check(source!, flags!, { timeout: 60_000 })
    expect(`${source}: ${status}`).toBe(`${source}: safe`)
  }
})
