import { describe, expect, test } from 'vitest'
import { cut, drive, say, secret, textIn } from './hold-back-gate.test-helper.ts'

describe('what leaves', () => {
  test('half a character that is only watched waits for its other half, also behind an empty text', async () => {
    const { steps } = await drive({ release: 'passthrough', scan: () => [] }, [
      say('a\ud83d'),
      say(''),
      say('\ude00'),
    ])

    expect(steps).toEqual(['a', 'a', 'a\u{1f600}'])
  })

  test('an update right before a match leaves as the object it was', async () => {
    const before = say('the ')

    const { updates } = await drive({ release: 'full', ...secret }, [before, say('secret')])

    expect(updates[0]).toBe(before)
    expect(textIn(updates)).toBe('the *')
  })

  test('the beginning of a long text that has left does not make its end wait', async () => {
    const { steps } = await drive({ release: 'window', holdChars: 0, scan: () => [] }, [
      say('x'.repeat(2000)),
      say('y'),
    ])

    expect(steps.map(({ length }) => length)).toEqual([2000, 2001])
  })
})

describe('a scan', () => {
  test('is told the call that arguments belong to', async () => {
    const shown: unknown[] = []
    const call = { type: 'function-call', callId: 'c1', name: 'f', arguments: '{}' } as const

    await drive(
      {
        release: 'full',
        parts: ['arguments'],
        scan: ({ part, callId }) => void shown.push([part, callId]),
      },
      [say('', { contents: [call] })],
    )

    expect(shown).toEqual([['arguments', 'c1']])
  })

  test('is shown at most 128 characters that it has judged', async () => {
    const judged: number[] = []

    await drive(
      { release: 'window', holdChars: 0, scan: ({ from }) => void judged.push(from) },
      cut('x'.repeat(400), 1),
    )

    expect(Math.max(...judged)).toBe(128)
  })

  test('is asked at each update up to 1024 undecided characters, and then less often', async () => {
    const lengths: number[] = []

    await drive(
      {
        release: 'window',
        pending: () => 0,
        scan: ({ text }) => void lengths.push(text.length),
      },
      [say('x'.repeat(1024)), ...cut('x'.repeat(130), 1)],
    )

    expect(lengths).toEqual([1024, 1025, 1025 + 128, 1024 + 130])
  })
})
