import { afterEach, expect, test, vi } from 'vitest'
import { ContentSearch } from './content-search.ts'
import { WordTrie } from './word-trie.ts'

const search = new ContentSearch({
  words: [['rude', ['twerp', 'fürz']]],
  patterns: [],
  allow: [],
  wholeWord: true,
  leet: false,
  holdChars: 256,
})

afterEach(() => vi.restoreAllMocks())

test('a text is searched only from places where a word of the list may begin', () => {
  const walk = vi.spyOn(WordTrie.prototype, 'walk')
  const weather = 'It is sunny in Rome today, about twenty four degrees, with a light wind. '

  expect(search.scan(weather.repeat(100), 0, true)).toEqual([])

  // `twenty` begins like `twerp`: once for the word list and once for the allowed words.
  expect(walk).toHaveBeenCalledTimes(200)
})

test('a word is found whose second letter is not ASCII', () => {
  const found = search.scan('A twenty, a FÜRZ and a fu\u0308rz', 0, true)

  expect(found.map(({ start }) => start)).toEqual([12, 23])
})
