import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

test('packages that read texts of strangers measure the growth of all that they export', () => {
  const packages = new URL('../../packages/', import.meta.url)
  const readers = readdirSync(packages).filter((name) =>
    /^(?:guardrail-.*|middleware-(?:files|schema))$/.test(name),
  )
  const missing = readers.filter(
    (name) => !existsSync(new URL(`${name}/src/growth.long.test.ts`, packages)),
  )

  expect(readers.length).toBeGreaterThan(7)
  expect(missing).toEqual([])
})
