import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Packages whose functions make or run the middleware of others, and those that need an engine around a run. */
const elsewhere = new Set(['core', 'testing', 'ai-sdk', 'langchain', 'durable'])

/** Functions that return middleware, by the reports of the public types. */
const factories = globSync(join(root, 'packages/*/api/index.md')).flatMap((report) => {
  const folder = dirname(dirname(report))
  if (elsewhere.has(basename(folder))) return []
  const functions = readFileSync(report, 'utf8').matchAll(/^export function (\w+).*\): (.*);$/gm)
  return [...functions]
    .filter(([, , type]) => /Middleware/.test(type!))
    .map(([, name]) => ({ name: name!, folder }))
})

test('there are many of them', () => {
  expect(factories.length).toBeGreaterThan(20)
})

test.each(factories)('$name runs the contract suite of its kind', ({ name, folder }) => {
  const tests = globSync(join(folder, 'src/**/*.test.ts')).map((file) => readFileSync(file, 'utf8'))

  const suites = tests.filter((text) => /(?:middleware|guardrail)Contract\(/.test(text))

  expect(suites.some((text) => text.includes(`${name}(`))).toBe(true)
})
