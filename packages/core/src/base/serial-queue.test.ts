import { expect, test } from 'vitest'
import { SerialQueue } from './serial-queue.ts'

test('tasks run one after another, whether they succeed or fail, and the queue is free behind the last', async () => {
  const queue = new SerialQueue()
  const log: string[] = []
  const task = (name: string) => async () => {
    log.push(`${name} begins`)
    await Promise.resolve()
    log.push(`${name} ends`)
    if (name === 'b') throw new Error('no')
    return name
  }

  const first = queue.take(task('a'))
  const rest = Promise.allSettled([queue.take(task('b')), queue.take(task('c'))])
  await first
  const last = queue.take(task('d'))

  expect(queue.busy).toBe(true)
  expect(await rest).toMatchObject([{ reason: new Error('no') }, { value: 'c' }])
  expect(await last).toBe('d')
  expect(log).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  expect(queue.busy).toBe(false)
})
