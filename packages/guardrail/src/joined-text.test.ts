import { describe, expect, test } from 'vitest'
import { cut, drive, say, secret, spot, textIn, toolResult } from './hold-back-gate.test-helper.ts'
import type { HoldBackOptions } from './hold-back-gate.ts'

const options: HoldBackOptions = { release: 'window', ...secret }
const second = { messageId: 'm2' }

describe('the joint of two texts', () => {
  test.each([1, 2, 3, 6])('has matches in pieces of %d characters too', async (size) => {
    const { updates } = await drive(options, [
      say('the sec'),
      toolResult,
      ...cut('ret is', size, second),
    ])

    expect(textIn(updates)).toBe('the sec* is')
  })

  test('has matches around a text without characters', async () => {
    const { updates } = await drive(options, [
      say('the sec'),
      toolResult,
      say('', second),
      toolResult,
      say('ret', { messageId: 'm3' }),
    ])

    expect(textIn(updates)).toBe('the sec*')
  })

  test('leaves a match in one of them to the text that it is in', async () => {
    const scan = spot(/secret|(?<=one )two/)

    const { updates } = await drive({ ...options, scan }, [
      say('one '),
      toolResult,
      say('two secret', second),
    ])

    expect(textIn(updates)).toBe('one two *')
  })

  test('reports no match of the text before it', async () => {
    let reached = 0
    const scan = spot(/secret/, { onReached: () => reached++ })

    await drive({ ...options, scan }, [say('a secret'), toolResult, say('two', second)])

    expect(reached).toBe(1)
  })

  test('reports no match that the second text has reported', async () => {
    const reached: string[] = []
    const found = (pattern: RegExp) => (match: string) =>
      spot(pattern, { onReached: () => void reached.push(match) })
    const whole = found(/secret/)('secret')
    const end = found(/ret/)('ret')

    await drive(
      { release: 'window', holdChars: 0, scan: (window) => [...end(window), ...whole(window)] },
      [say('a secret, a sec'), toolResult, say('ret ', second)],
    )

    expect(reached).toEqual(['secret', 'ret', 'ret'])
  })

  test('holds no more than the 512 characters behind it', async () => {
    const pending = (text: string, from: number): number =>
      text.startsWith('x') ? from : text.length

    const { steps } = await drive({ release: 'window', pending, scan: () => [] }, [
      say(`${'.'.repeat(9)}${'x'.repeat(64)}`),
      toolResult,
      say('y'.repeat(511), second),
      say('y', second),
      say('y', second),
    ])

    expect(steps.map(({ length }) => length)).toEqual([73, 73, 73, 73, 73 + 513])
  })

  test('keeps no text from leaving that ends far behind it', async () => {
    const { updates } = await drive(options, [
      say('the sec'),
      toolResult,
      ...cut('x'.repeat(2000), 100, second),
    ])

    expect(textIn(updates)).toBe(`the sec${'x'.repeat(2000)}`)
  })

  test('shows the text before it as a reader has seen it', async () => {
    const shown: string[] = []
    const scan: HoldBackOptions['scan'] = (window) => {
      shown.push(window.text)
      return secret.scan(window)
    }

    await drive({ ...options, scan }, [
      say('a secret'),
      say(' and'),
      say(' more'),
      toolResult,
      say('two', second),
    ])

    expect(shown.at(-1)).toBe('a * and moretwo')
  })

  test('of two JSON texts has no matches', async () => {
    const { updates } = await drive({ ...options, readAs: 'json' }, [
      say('["sec'),
      toolResult,
      say('ret"]', second),
    ])

    expect(textIn(updates)).toBe('["secret"]')
  })

  test('is not scanned without text before it', async () => {
    const shown: string[] = []

    await drive({ ...options, scan: ({ text }) => void shown.push(text) }, [
      say(''),
      toolResult,
      say('Hello', second),
    ])

    expect(shown).toEqual(['Hello'])
  })
})
