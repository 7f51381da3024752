import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { sha256 } from './sha256.ts'

test('on Node a hash is there at once', () => {
  expect(sha256('abc')).toBeTypeOf('string')
})

test('an import alone loads no module of Node', async () => {
  vi.resetModules()
  const loads = vi.spyOn(process, 'getBuiltinModule')

  const authoring = await import('../authoring.ts')
  expect(loads).not.toHaveBeenCalled()

  expect(authoring.sha256('abc')).toBeTypeOf('string')
  expect(loads).toHaveBeenCalledTimes(1)
})

async function hashWith(module: object | undefined): Promise<unknown> {
  vi.resetModules()
  const loads = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(module)
  const fresh = await import('./sha256.ts')
  const hash = fresh.sha256('abc')
  loads.mockRestore()
  vi.resetModules()
  return hash instanceof Promise ? ['later', await hash] : hash
}

test('a hash is made with what the runtime has', async () => {
  const expected = sha256('abc')

  expect(await hashWith(undefined)).toEqual(['later', expected])
  expect(await hashWith({ createHash })).toBe(expected)
  expect(await hashWith({ createHash, hash: () => 'quick' })).toBe('quick')
})
