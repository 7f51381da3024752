import { describe, expect, it } from 'vitest'
import { memoryStore } from './store.ts'

function make(maxEntries = 10) {
  const clock = { time: 0, now: () => clock.time }
  const { lists } = memoryStore({ clock, maxEntries })
  const items = async (list: string) =>
    (await lists.range(list, { limit: 10 })).map(({ item }) => item).join('')
  return { clock, lists, items }
}

describe('lists of this process', () => {
  it('are gone at the time they expire', async () => {
    const { clock, lists, items } = make()
    await lists.add('list', 'a', 1, { ttlMs: 100 })

    clock.time = 99
    expect(await items('list')).toBe('a')
    clock.time = 100
    expect(await items('list')).toBe('')
    await lists.add('list', 'b', 1)
    expect(await items('list')).toBe('b')
  })

  it('that were emptied take no place of others', async () => {
    const { lists, items } = make(2)
    await lists.add('one', 'a', 1)
    await lists.add('two', 'b', 1)
    await lists.remove('two', 'b')

    await lists.add('three', 'c', 1)

    expect([await items('one'), await items('two'), await items('three')]).toEqual(['a', '', 'c'])
  })

  it('order items of one score the same, however they were added, also across pages', async () => {
    const { lists, items } = make()
    for (const item of 'bdac') await lists.add('one', item, 1)
    for (const item of 'cabd') await lists.add('two', item, 1)

    const whole = await items('one')
    const pages = []
    for (let after; ; ) {
      const [next] = await lists.range('one', { limit: 1, after })
      if (next === undefined) break
      pages.push(next.item)
      after = next
    }

    expect(await items('two')).toBe(whole)
    expect(pages.join('')).toBe(whole)
  })
})
