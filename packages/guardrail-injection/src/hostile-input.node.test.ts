import { checkSync } from 'recheck'
import { beforeAll, describe, expect, test } from 'vitest'
import { findImages } from './find-images.ts'
import { injectionSignals } from './assess-text.ts'
import { injectionAssessor } from './index.ts'

test('every pattern is judged safe', () => {
  const patterns = new Set(injectionSignals.flatMap(({ parts }) => parts))

  const unsafe = [...patterns].filter(
    ({ source, flags }) => checkSync(source, flags).status !== 'safe',
  )

  expect(patterns.size).toBeGreaterThan(100)
  expect(unsafe).toEqual([])
}, 30_000)

describe('hostile input', () => {
  const assess = injectionAssessor()
  const pieces = [
    'a',
    ' ',
    '\n',
    '<',
    '![',
    '![](',
    '<img ',
    '[system] ',
    'ignore ',
    'ignore all previous ',
    'ignore all previous instructions ',
    'DAN ',
    'a b ',
    'QUJD',
    '%41',
    '\\u0041',
    '&#65;',
    'a\u200b',
    '\u{e0041}',
    '\ufe01',
    'e\u0301',
    '\ufdfa',
    'aо',
    '忽略之前',
    'निर्देश ',
    'забудь все ',
    '\ud800',
  ]

  /** Milliseconds of this thread alone, the best of some tries: what else the machine does does not count. */
  function quickest(work: () => unknown, tries: number): number {
    let least = Infinity
    for (let at = 0; at < tries; at++) {
      const before = process.threadCpuUsage()
      work()
      const { user, system } = process.threadCpuUsage(before)
      least = Math.min(least, (user + system) / 1000)
    }
    return least
  }

  beforeAll(() => {
    for (const piece of pieces) assess(piece.repeat(1000))
  })

  test.each(pieces)(
    '100,000 characters of %j take less than 50 ms, a million less than 1 s',
    (piece) => {
      const long = piece.repeat(100_000 / piece.length)
      const huge = piece.repeat(1_000_000 / piece.length)

      expect(quickest(() => assess(long), 6)).toBeLessThan(50)
      expect(quickest(() => assess(huge), 1)).toBeLessThan(1_000)
      expect(quickest(() => findImages(huge), 1)).toBeLessThan(1_000)
    },
  )
})
