import { expect, test } from 'vitest'
import { createId, createSecretId } from './create-id.ts'

test('ids have the random prefix of the process and a number of their own', () => {
  const ids = [createId('run'), createId('msg')]

  expect(ids).toEqual([
    expect.stringMatching(/^run_[0-9a-f]{12}-[0-9a-z]+$/),
    expect.stringMatching(/^msg_[0-9a-f]{12}-[0-9a-z]+$/),
  ])
  const [first, second] = ids.map((id) => id.slice(4).split('-'))
  expect(first![0]).toBe(second![0])
  expect(first![1]).not.toBe(second![1])
})

test('secret ids have 128 random bits', () => {
  const ids = Array.from({ length: 100 }, () => createSecretId('approval'))

  expect(new Set(ids).size).toBe(100)
  for (const id of ids) expect(id).toMatch(/^approval_[0-9a-f]{32}$/)
})
