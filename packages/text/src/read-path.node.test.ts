import { posix, win32 } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAbsolutePath, pathNames } from './read-path.ts'

const part = fc.constantFrom('..', '.', '', 'a', 'b ', 'c.', '...', '.. ', '. ', '..;', 'C:', '~')
const path = fc
  .array(fc.tuple(part, fc.constantFrom('/', '\\', '//')), { maxLength: 8 })
  .map((parts) => parts.flat().join(''))

test('on posix the names are those that Node comes to, and there are none where it climbs', () => {
  const resolved = (parts: readonly string[]): string => posix.resolve('/in', ...parts)
  fc.assert(
    fc.property(path, (text) => {
      const parts = text.split('/').map((name) => `./${name}`)
      const steps = parts.map((_, at) => resolved(parts.slice(0, at + 1)))
      const names = pathNames(text, 'posix')

      expect(names === undefined).toBe(steps.some((step) => !/^\/in(?:\/|$)/.test(step)))
      expect(names && resolved(names)).toBe(names && resolved(parts))
    }),
  )
})

test('on Windows a relative path that has names stays in the folder it is relative to', () => {
  fc.assert(
    fc.property(path, (text) => {
      if (isAbsolutePath(text, ['win32']) || pathNames(text, 'win32') === undefined) return

      expect(win32.resolve('D:\\in', text)).toMatch(/^D:\\in(?:\\|$)/)
    }),
  )
})
