import { describe, expect, test } from 'vitest'
import type { Update } from './hold-back-gate.test-helper.ts'
import { drive, say, textIn } from './hold-back-gate.test-helper.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { strictest } from './scan-options.ts'

describe('a gate that waits for a promise', () => {
  test('lets nothing leave before it resolves', async () => {
    let resolve = (): void => {}
    const until = new Promise<void>((settle) => {
      resolve = settle
    })
    const gate = holdBackGate({ release: 'passthrough', scan: () => [], until })
    const left: Update[] = []
    const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }

    await gate.transform?.(say('one '), controller)
    const flushing = gate.flush?.(controller)
    await new Promise((settle) => setTimeout(settle, 0))
    const before = textIn(left)
    resolve()
    await flushing

    expect(before).toBe('')
    expect(textIn(left)).toBe('one ')
  })

  test('lets pass what comes after it has resolved', async () => {
    const { steps } = await drive(
      { release: 'passthrough', scan: () => [], until: Promise.resolve() },
      [say('one '), say('two')],
    )

    expect(steps.at(-1)).toBe('one two')
  })

  test('fails at the next update with what it rejects with, and nothing has left', async () => {
    const reason = new Error('blocked')

    const { updates, error, steps } = await drive(
      { release: 'passthrough', scan: () => [], until: Promise.reject(reason) },
      [say('one')],
    )

    expect(error).toBe(reason)
    expect(updates).toEqual([])
    expect(steps).toEqual([])
  })
})

test('the strictest of several policies holds', () => {
  expect(strictest(['window', 'full', 'passthrough'])).toBe('full')
  expect(strictest(['passthrough', 'sentence', 'window'])).toBe('sentence')
  expect(strictest([])).toBe('passthrough')
})
