import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sourceWith } from './find-sources.ts'

const read = (path: string) => readFileSync(path, 'utf8')

test('the README lists every package that is published, and no other', () => {
  const published = globSync('packages/*/package.json').map(
    (path) => (JSON.parse(read(path)) as { name: string }).name,
  )
  const rows = [...read('README.md').matchAll(/^\| \[`([^`]+)`\]\((packages\/[^)]+)\)/gm)]

  expect(rows).toHaveLength(published.length)
  expect(new Set(rows.map(([, name]) => name))).toEqual(new Set(published))
  for (const [, name, path = ''] of rows) expect(read(path)).toMatch(new RegExp(`^# ${name}\\n`))
})

test('the recommended order of the documents is the one that explain() checks', () => {
  const source = sourceWith('core', "  agent: 'audit ")
  const checked = [...source.matchAll(/^ {2}(agent|chat|function):\s+'([^']+)'/gm)]
  const [, table = ''] = /<!-- order -->\n\n((?:\|.*\n)+)/.exec(read('docs/order.md')) ?? []
  const told = [...table.matchAll(/^\| (agent|chat|function) \| (.*) \|$/gm)]

  expect(told.map(([, level, order = '']) => [level, order.split(' → ')])).toEqual(
    checked.map(([, level, order = '']) => [level, order.split(' ')]),
  )
  expect(checked).toHaveLength(3)
})

test('the index of the documents leads to each of them', () => {
  const index = read('docs/README.md')
  const pages = globSync('docs/{*,migrating/*}.md').map((path) => path.slice('docs/'.length))

  expect(pages.filter((page) => page !== 'README.md' && !index.includes(`(${page})`))).toEqual([])
})
