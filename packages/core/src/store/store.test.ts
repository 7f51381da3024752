import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Store } from './store.ts'
import { memoryStore } from './store.ts'

function storeAt(startMs = 0, maxEntries = 1000): { store: Store; time: { ms: number } } {
  const time = { ms: startMs }
  return { store: memoryStore({ maxEntries, clock: { now: () => time.ms } }), time }
}

describe('memoryStore', () => {
  test('what was written is read as an equal copy', async () => {
    const store = memoryStore()
    const value = { tags: ['a'], nested: { n: 1 } }

    await store.set('key', value)
    value.tags.push('later')
    const first = (await store.get('key')) as typeof value
    first.nested.n = 2

    expect(await store.get('key')).toEqual({ tags: ['a'], nested: { n: 1 } })
  })

  test('any JSON value under any key comes back as it was', async () => {
    const keys = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', ''))

    await fc.assert(
      fc.asyncProperty(keys, fc.jsonValue(), async (key, value) => {
        const store = memoryStore()
        await store.set(key, value)
        expect(await store.get(key)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('a missing or deleted entry reads as undefined, also one named like a property of objects', async () => {
    const store = memoryStore()
    await store.set('gone', 1)

    await store.delete('gone')

    expect(await store.get('gone')).toBeUndefined()
    expect(await store.get('__proto__')).toBeUndefined()
    expect(await store.get('toString')).toBeUndefined()
  })

  test('an entry is gone when its time is up, and not before', async () => {
    const { store, time } = storeAt(1000)
    await store.set('key', 'value', { ttlMs: 50 })

    time.ms = 1049
    const before = await store.get('key')
    time.ms = 1050

    expect(before).toBe('value')
    expect(await store.get('key')).toBeUndefined()
  })

  test('writing anew replaces the time to live', async () => {
    const { store, time } = storeAt()
    await store.set('key', 1, { ttlMs: 50 })

    await store.set('key', 2)
    time.ms = 1_000_000

    expect(await store.get('key')).toBe(2)
  })

  test('beyond maxEntries the entry that was unused for the longest time goes', async () => {
    const { store } = storeAt(0, 2)
    await store.set('a', 1)
    await store.set('b', 2)
    await store.get('a')

    await store.set('c', 3)

    expect(await store.get('a')).toBe(1)
    expect(await store.get('b')).toBeUndefined()
    expect(await store.get('c')).toBe(3)
  })

  test('an expired entry that was read takes no room from the others', async () => {
    const { store, time } = storeAt(0, 2)
    await store.set('a', 1)
    await store.set('b', 2, { ttlMs: 10 })
    time.ms = 10

    await store.get('b')
    await store.set('c', 3)

    expect([await store.get('a'), await store.get('c')]).toEqual([1, 3])
  })

  test('writing an entry counts as its use, and its earlier value takes no room', async () => {
    const store = memoryStore({ maxBytes: 8 })
    await store.set('a', 1)
    await store.set('b', 2)
    await store.set('a', 3)

    await store.set('c', 4)

    expect(await store.get('a')).toBe(3)
    expect(await store.get('b')).toBeUndefined()
  })

  test('a value that is too large removes the one that it replaces', async () => {
    const store = memoryStore({ maxBytes: 4 })
    await store.set('a', 1)
    const before = await store.get('a')

    await store.set('a', 10)

    expect([before, await store.get('a')]).toEqual([1, undefined])
  })

  test('entries may fill maxBytes to the last byte', async () => {
    const store = memoryStore({ maxBytes: 8 })

    await store.set('a', 1)
    await store.set('b', 2)

    expect([await store.get('a'), await store.get('b')]).toEqual([1, 2])
  })

  test('beyond maxBytes what was unused for the longest time goes, and an entry larger than that is not kept', async () => {
    const store = memoryStore({ maxBytes: 60 })
    await store.set('a', 'x'.repeat(10))
    await store.set('b', 'x'.repeat(10))
    await store.get('a')

    await store.set('huge', 'x'.repeat(40))
    const kept = [await store.get('a'), await store.get('b'), await store.get('huge')]
    await store.set('c', 'x'.repeat(10))

    expect(kept).toEqual(['x'.repeat(10), 'x'.repeat(10), undefined])
    expect(await store.get('a')).toBeUndefined()
    expect(await store.get('b')).toBe('x'.repeat(10))
    expect(() => memoryStore({ maxBytes: 0 })).toThrow('`maxBytes` must be')
  })

  test('increments of many callers at once lose none', async () => {
    const store = memoryStore()

    const sums = await Promise.all(Array.from({ length: 100 }, () => store.increment('n', 2)))

    expect(await store.get('n')).toBe(200)
    expect(new Set(sums).size).toBe(100)
  })

  test('counting on does not prolong the time to live of a counter', async () => {
    const { store, time } = storeAt()
    await store.increment('n', 1, { ttlMs: 100 })

    time.ms = 99
    const second = await store.increment('n', 1, { ttlMs: 100 })
    time.ms = 100
    const third = await store.increment('n', 1, { ttlMs: 100 })

    expect([second, third]).toEqual([2, 1])
  })

  test('an increment of what is no number is refused and changes nothing', async () => {
    const store = memoryStore()
    await store.set('key', 'text')

    await expect(store.increment('key', 1)).rejects.toThrow(TypeError)
    await expect(store.increment('other', Number.NaN)).rejects.toThrow(RangeError)

    expect(await store.get('key')).toBe('text')
    expect(await store.get('other')).toBeUndefined()
  })

  test('of two that compare and set at once, one wins', async () => {
    const store = memoryStore()

    const won = await Promise.all([
      store.compareAndSet('lock', undefined, 'first'),
      store.compareAndSet('lock', undefined, 'second'),
    ])

    expect(won).toEqual([true, false])
    expect(await store.get('lock')).toBe('first')
  })

  test('compareAndSet compares values, not objects, and sees an expired entry as none', async () => {
    const { store, time } = storeAt()
    await store.set('key', { n: 1 }, { ttlMs: 10 })

    const equal = await store.compareAndSet('key', { n: 1 }, { n: 2 }, { ttlMs: 10 })
    time.ms = 10
    const stale = await store.compareAndSet('key', { n: 2 }, { n: 3 })
    const absent = await store.compareAndSet('key', undefined, { n: 4 })

    expect([equal, stale, absent]).toEqual([true, false, true])
    expect(await store.get('key')).toEqual({ n: 4 })
  })

  test('what JSON cannot say is refused', async () => {
    const store = memoryStore()

    await expect(store.set('key', undefined)).rejects.toThrow('must be JSON')
    await expect(store.set('key', () => 1)).rejects.toThrow('must be JSON')
  })

  test('wrong options throw, naming the option and the value', async () => {
    expect(() => memoryStore({ maxEntries: 0 })).toThrow(
      '`maxEntries` must be a whole number from 1 up, got 0',
    )
    await expect(memoryStore().set('key', 1, { ttlMs: 0 })).rejects.toThrow(
      '`ttlMs` must be above 0, got 0',
    )
  })
})
