import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitName } from './fit-name.ts'

test('every name fits providers, and stays the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.constantFrom('', 'mcp_', '7_'), async (name, prefix) => {
      const fitted = await fitName(prefix, 'server', name)

      expect(fitted).toMatch(/^[A-Za-z_][\w-]{0,63}$/)
      expect(await fitName(prefix, 'server', name)).toBe(fitted)
    }),
  )
})

test.each([
  ['one that fits is left alone', 'read_file', 'fs_read_file'],
  ['one with dots ends with a hash', 'read.file', /^fs_read_file_[\da-f]{8}$/],
  ['one of 128 characters is cut', 'x'.repeat(128), /^fs_x{52}_[\da-f]{8}$/],
])('%s', async (_, name, fitted) => {
  expect(await fitName('fs_', 'fs', name)).toMatch(fitted)
})

test('two names that come to the same differ by their hashes', async () => {
  const names = ['a.b', 'a/b', 'a b', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`]

  const fitted = await Promise.all(names.map((name) => fitName('', 's', name)))

  expect(new Set(fitted).size).toBe(names.length)
})
