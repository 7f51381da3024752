import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { injectionSignals } from './assess-text.ts'
import { SignalIndex } from './signal-index.ts'
import { SignalSearch } from './signal-search.ts'
import { startsOf } from './match-starts.ts'

test.each<[RegExp, readonly string[] | undefined]>([
  [/\b(?:ignore|no|you (?:are|be))\b/g, ['igno', 'no', 'you ']],
  [/\bab?c/g, ['ac', 'abc']],
  [/\b(?:a|b)?c\d+x/g, ['c', 'ac', 'bc']],
  [/\b[ab][cd]/g, ['ac', 'ad', 'bc', 'bd']],
  [/\bmode[- ]?x/g, ['mode']],
  [/\bto\w?y/g, ['to']],
  [/\b(?<!\bmy )old(?=er)er/g, ['olde']],
  [/(?<!\bmy )\bold/g, ['old']],
  [/\ba\.b\b/g, ['a.b']],
  [/\b(?:a(?:b|cde)|f)g/g, ['abg', 'acde', 'fg']],
  [/\bso(?:me(?:thing|one)|[(|)]x)y|z/g, undefined],
  [/<\|?(?:im|end)/g, ['<|im', '<|en', '<im', '<end']],
  [/[\\-x]x/g, undefined],
  [/["\u2018[]my/g, ['"my', '\u2018my', '[my']],
  [/(?<!a)[[\](\\]\w/g, ['[', ']', '(', '\\']],
  [/[<\d]x/g, undefined],
  [/[<-]x/g, ['<x', '-x']],
  [/[!-/]x/g, undefined],
  [/(?:<|word)/g, undefined],
  [/ ?<x/g, [' <x', '<x']],
  [/(?:<x)?/g, undefined],
  [/\b(?:word|.x)/g, undefined],
  [/\b\w+/g, undefined],
  [/word/g, undefined],
  [/\b<word/g, undefined],
  [/\bword/gi, undefined],
  [/\bword|other/g, undefined],
])('%s begins with %j', (pattern, expected) => {
  const starts = startsOf(pattern)

  expect(starts && [...starts].toSorted()).toEqual(expected && [...expected].toSorted())
})

test('rules out no signal that a text has', () => {
  const index = new SignalIndex(injectionSignals)
  const corpus = readFileSync(new URL('../../eval/corpus.jsonl', import.meta.url), 'utf8')
  const pieces = injectionSignals.flatMap(({ parts }) =>
    parts.flatMap(({ source }) => source.split(/\\[bw]|[()[\]|?:\\*+^$]|\{[\d,]+\}/)),
  )
  let state = 1
  const random = (below: number) =>
    Math.floor((((state = (state * 48_271) % 2_147_483_647) - 1) / 2_147_483_646) * below)
  const mixed = Array.from({ length: 1500 }, () =>
    Array.from({ length: 12 }, () => pieces[random(pieces.length)]).join(random(3) ? ' ' : ''),
  )

  let found = 0
  for (const text of [...corpus.toLowerCase().split('\n'), ...mixed]) {
    const search = new SignalSearch(text)
    const possible = new Set(index.possibleIn(search.text))
    const there = injectionSignals.filter((signal) => search.hasParts(signal))
    found += there.length
    expect(there.filter((signal) => !possible.has(signal))).toEqual([])
  }
  expect(found).toBeGreaterThan(300)
})

test('leaves few signals to be looked for in an ordinary text', () => {
  const index = new SignalIndex(injectionSignals)
  const text = 'how is the weather in rome today, and will there be any rain until the weekend?'

  expect(index.possibleIn(text).length).toBeLessThan(injectionSignals.length / 5)
})
