import { expect, test } from 'vitest'
import { cut, drive, say, spot, textIn } from './hold-back-gate.test-helper.ts'
import type { HoldBackOptions } from './hold-back-gate.ts'
import type { TextEdit } from './verdict.ts'

const options: HoldBackOptions = {
  release: 'window',
  scan: spot(/\bsecret|closed(?=\n)/),
  pending: (text, from) => Math.max(from, text.length - 8),
}

test.each([
  ['one\\ntwo secret six', 'one\\ntwo * six'],
  ['one\\nsecret six', 'one\\n* six'],
  ['one \\\\nsecret six', 'one \\\\n* six'],
  ['one sec\\u0072et six', 'one * six'],
  ['one se\\\\u0063ret six', 'one * six'],
  ['one\\\\ntwo sec\\u0072et six', 'one\\\\ntwo * six'],
  ['one\\ttwo sec\\\\u0072et six', 'one\\ttwo * six'],
  ['one closed\\ntwo', 'one *\\ntwo'],
  [`${'x'.repeat(300)} sec\\u0072et six`, `${'x'.repeat(300)} * six`],
  [`\\t${'x'.repeat(300)} sec\\u0072et six`, `\\t${'x'.repeat(300)} * six`],
  ['C:\\', 'C:\\'],
])('in %s the match is replaced and nothing else, wherever it is cut', async (text, expected) => {
  const results = new Set<string>()

  for (let size = 1; size <= text.length; size++) {
    // oxlint-disable-next-line no-await-in-loop
    const { updates } = await drive(options, cut(text, size))
    results.add(textIn(updates))
  }

  expect([...results]).toEqual([expected])
})

test.each([
  ['a\\nick b', /nick/, 'a* b'],
  ['a x\\nick b', /x\\/, 'a *ick b'],
])('in %s no half of an escape is left behind', async (text, pattern, expected) => {
  const { updates } = await drive({ ...options, scan: spot(pattern) }, [say(text)])

  expect(textIn(updates)).toBe(expected)
})

test.each(['C:\\\\new', 'a\\\\\\nb', 'a\\\\\\\\nb', 'a\\\\u0062'])(
  '%s is read in pieces as at once',
  async (text) => {
    const readings = new Set<string>()

    for (let size = 1; size <= text.length; size++) {
      const shown: string[] = []
      // oxlint-disable-next-line no-await-in-loop
      await drive(
        { release: 'full', readAs: 'json', scan: (window) => void shown.push(window.text) },
        cut(text, size),
      )
      readings.add(shown.join('|'))
    }

    expect(readings.size).toBe(1)
  },
)

test('no half of an escape leaves', async () => {
  const pending = (text: string): number => text.length - (text.endsWith('n') ? 1 : 0)

  const { steps } = await drive({ ...options, pending }, [say('a\\n'), say('b')])

  expect(steps).toEqual(['a', 'a\\nb'])
})

test('text with escapes leaves at its end also where sentences leave as a whole', async () => {
  const { updates } = await drive({ ...options, release: 'sentence' }, [say('One. a\\nb')])

  expect(textIn(updates)).toBe('One. a\\nb')
})

test('a match that is found with and without its escapes is reported once', async () => {
  let reached = 0
  const scan = spot(/secret/, { onReached: () => reached++ })

  await drive({ ...options, scan }, [say('a\\tsecret and a secret')])

  expect(reached).toBe(2)
})

test('what is scanned at the end of a sentence ends there with its escapes decoded too', async () => {
  const shown: string[] = []
  const scan = ({ text }: { readonly text: string }): undefined => void shown.push(text)

  await drive({ release: 'sentence', scan }, [say('One\\t1. Two')])

  expect(shown.slice(0, 2)).toEqual(['One\\t1. ', 'One\t1. '])
})

test('text is decoded at most eight times', async () => {
  const lengths: number[] = []

  await drive({ release: 'full', scan: ({ text }) => void lengths.push(text.length) }, [
    say('\\'.repeat(1024)),
  ])

  expect(lengths).toEqual([1024, 512, 256, 128, 64, 32, 16, 8, 4])
})

test('text is scanned once again some way behind an escape', async () => {
  const shown: string[] = []
  const scan = ({ text }: { readonly text: string }): undefined => void shown.push(text)

  await drive({ release: 'window', holdChars: 0, scan }, [
    say('a\\nb '),
    say('near '),
    say(`${'c'.repeat(100)} `),
    say('far'),
  ])

  expect(shown.filter((text) => text.endsWith('near '))).toHaveLength(2)
  expect(shown.filter((text) => text.endsWith('far'))).toHaveLength(1)
})

test.each<[string, HoldBackOptions['readAs'], string]>([
  ['as text', 'decoded', '{"q":"a "*""}'],
  ['as JSON, which it does not break', 'json', '{"q":"a \\"*\\""}'],
])('a replacement is written %s', async (_, readAs, expected) => {
  const scan = spot(/secret/, { replacement: '"*"' })

  const { updates } = await drive({ release: 'full', readAs, scan }, [say('{"q":"a secret"}')])

  expect(textIn(updates)).toBe(expected)
})

test('arguments are read as JSON', async () => {
  const scan = ({ text }: { readonly text: string }): TextEdit[] => {
    const start = text.indexOf('a\nsecret')
    return start < 0 ? [] : [{ start, end: start + 8, replacement: '"*"' }]
  }

  const { updates } = await drive({ release: 'full', parts: ['arguments'], scan }, [
    say('', {
      contents: [
        { type: 'function-call', callId: 'c1', name: 'f', arguments: '{"q":"a\\nsecret"}' },
      ],
    }),
  ])

  expect(updates[0]?.contents[0]).toMatchObject({ arguments: '{"q":"\\"*\\""}' })
})
