import { expect, test } from 'vitest'
import { storeNamespace } from './store-namespace.ts'
import type { KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'

test('namespaces share no entry, counter, limit or list, whatever their names are', async () => {
  const store = memoryStore()
  const parts = [
    { name: 'a' },
    { name: 'a', tenant: '' },
    { name: 'a', tenant: 'b' },
    { name: 'a@b' },
    { name: 'a:', tenant: 'b:' },
    { name: 'a', tenant: '\ud800' },
    { name: 'a', tenant: '\ud801' },
    { name: 'a', tenant: '%' },
  ].map((namespace) => storeNamespace(store, namespace))
  const claim = { key: 'k', kind: 'concurrency', limit: 1, windowMs: 0, amount: 1 } as const

  const heard: string[] = []

  for (const [index, part] of parts.entries()) {
    await part.set('key', index)
    expect(await part.increment('n', 1)).toBe(1)
    expect(await part.limits.take('call', [claim])).toMatchObject({ granted: true })
    expect(await part.compareAndSet('claim', undefined, index)).toBe(true)
    await part.lists.add('list', `item ${index}`, 1)
    await part.signals!.listen('notes', (note) => heard.push(`${index} ${note}`))
  }

  for (const [index, part] of parts.entries()) {
    await part.signals!.send('notes', 'new')
    expect(heard.splice(0)).toEqual([`${index} new`])
    expect(await part.get('key')).toBe(index)
    expect(await part.lists.range('list', { limit: 9 })).toEqual([
      { item: `item ${index}`, score: 1 },
    ])
    expect(await part.limits.take('other', [claim])).toMatchObject({ granted: false })
    await part.limits.settle('call', [{ claim, used: 1 }])
    await part.delete('key')
    await part.lists.remove('list', `item ${index}`)
    expect(await part.get('key')).toBeUndefined()
  }
  expect(await store.get('a:claim')).toBe(0)
})

test('a namespace has the extensions of its store, and no other', () => {
  const names = ['get', 'set', 'delete', 'compareAndSet', 'close']
  const entries = Object.entries(memoryStore()).filter(([name]) => names.includes(name))
  const plain = Object.fromEntries(entries) as unknown as KeyValueStore

  expect(Object.keys(storeNamespace(plain, { name: 'a' })).toSorted()).toEqual(
    Object.keys(plain).toSorted(),
  )
  expect(() => storeNamespace(plain, { name: '' })).toThrow('`name` must be a text')
})
