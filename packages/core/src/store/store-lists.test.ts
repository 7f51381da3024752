import { describe, expect, it } from 'vitest'
import type { ListItem } from './store-lists.ts'
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
    const pages: (ListItem | undefined)[] = []
    for (let page = 0; page < 5; page++)
      pages.push(...(await lists.range('one', { limit: 1, after: pages.at(-1) })))

    expect(await items('two')).toBe(whole)
    expect(pages.map((page) => page?.item).join('')).toBe(whole)
  })

  it('begin with the highest score, and keep as many items as they are told', async () => {
    const { lists, items } = make()
    await lists.add('list', 'a', 2)
    await lists.add('list', 'b', 3)
    await lists.add('list', 'c', -4)
    expect(await items('list')).toBe('bac')

    await lists.add('list', 'd', 2.5, { keep: 3 })

    expect(await items('list')).toBe('bda')
  })

  it('keep the other items when one is removed', async () => {
    const { lists, items } = make()
    await lists.add('list', 'a', 1)
    await lists.add('list', 'b', 2)

    await lists.remove('list', 'a')

    expect(await items('list')).toBe('b')
  })

  it('make room for a new one by the one that was unused for the longest time', async () => {
    const { lists, items } = make(2)
    await lists.add('one', 'a', 1)
    await lists.add('two', 'b', 1)
    await items('one')

    await lists.add('three', 'c', 1)

    expect([await items('one'), await items('two'), await items('three')]).toEqual(['a', '', 'c'])
  })

  it('take no place of others once they have expired', async () => {
    const { clock, lists, items } = make(2)
    await lists.add('one', 'a', 1)
    await lists.add('two', 'b', 1, { ttlMs: 100 })
    clock.time = 100
    await items('two')

    await lists.add('three', 'c', 1)

    expect([await items('one'), await items('three')]).toEqual(['a', 'c'])
  })
})
