import { memoryStore } from '@lamella/core'
import type { KeyValueStore } from '@lamella/core'
import { testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { whenStored } from './when-stored.ts'

describe('waiting for a value in a store', () => {
  it('reads again with each note, and a note during a read is not missed', async () => {
    const store = memoryStore()
    let reads = 0
    const read = async () => {
      const value = await store.get('answer')
      if (++reads === 1) {
        await store.set('answer', 42)
        await store.signals!.send('answers', '')
      }
      return value
    }

    expect(await whenStored(store, { channel: 'answers', read, clock: testClock() })).toBe(42)
    expect(reads).toBe(2)
  })

  it('reads now and then where there are no notes', async () => {
    const { signals: _none, ...store } = memoryStore()
    const clock = testClock()
    const found = whenStored(store as KeyValueStore, {
      channel: 'answers',
      read: () => store.get('answer'),
      pollMs: 100,
      clock,
    })
    await store.set('answer', 42)

    await clock.advance(100)

    expect(await found).toBe(42)
  })

  it('ends with its signal', async () => {
    const ending = new AbortController()
    const read = async () => ending.abort(new Error('enough'))

    const found = whenStored(memoryStore(), { channel: 'c', read, signal: ending.signal })

    await expect(found).rejects.toThrow('enough')
  })
})
