import { expect, test } from 'vitest'
import { Queue } from './queue.ts'

interface Item {
  readonly at: number
}

test('items come in the order in which they were added, also while others are added', () => {
  const queue = new Queue<Item>()
  const taken: (number | undefined)[] = []
  const take = () => taken.push(queue.take()?.at)

  take()
  queue.added.push({ at: 1 }, { at: 2 })
  take()
  queue.added.push({ at: 3 })
  take()
  take()
  take()

  expect(taken).toEqual([undefined, 1, 2, 3, undefined])
})

test('an item is found wherever it waits', () => {
  const queue = new Queue<Item>()
  queue.added.push({ at: 1 }, { at: 2 })
  queue.take()
  queue.added.push({ at: 3 })

  expect([1, 2, 3].map((wanted) => queue.some(({ at }) => at === wanted))).toEqual([
    false,
    true,
    true,
  ])
})

test('a million items are read before the test times out', () => {
  const queue = new Queue<Item>()
  for (let at = 0; at < 1_000_000; at++) queue.added.push({ at })

  let count = 0
  while (queue.take() !== undefined) count++

  expect(count).toBe(1_000_000)
})
