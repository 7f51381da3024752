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
