import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { rules } from './conventions.ts'
import { repository, type Tree } from './tree.ts'

/** For each rule, a file or a manifest that must not pass. */
const offences: Record<keyof typeof rules, Record<string, string>> = {
  'a package has its files': { 'packages/a/package.json': '{}' },
  'a manifest says what a registry and a bundler need': {
    'packages/a/package.json': '{ "name": "b" }',
  },
  'every package has the addresses of the root manifest': {
    'package.json': '{ "homepage": "https://docs.example" }',
    'packages/a/package.json': '{}',
  },
  'core is a plain caret peer of every other package': {
    'packages/a/package.json': '{ "peerDependencies": { "@lamella/core": "workspace:^" } }',
  },
  'core depends on nothing': { 'packages/core/package.json': '{ "dependencies": { "zod": "4" } }' },
  'core imports nothing from outside itself': {
    'packages/core/src/a.ts': "import { z } from 'zod'",
  },
  'core and the foundations run without Node': {
    'packages/core/src/a.ts': 'const home = process.env',
  },
  'a package imports no sibling': {
    'packages/a/src/a.ts': "export type { B } from '@lamella/openai'",
  },
  'a folder imports only from folders below it': {
    'packages/core/src/base/a.ts': "import type { Agent } from '../agent/agent.ts'",
    'packages/core/src/agent/agent.ts': '',
  },
  'everything is exported by name': { 'packages/a/src/a.ts': "export * from './b.ts'" },
  'index.ts only lists exports': { 'packages/a/src/index.ts': 'export const a = 1' },
  'a file is named after what it exports': { 'packages/a/src/utils.ts': '' },
  'an example is short, and has a row in the table of examples': {
    'examples/01-long.ts': 'a\n'.repeat(61),
  },
  'a package is used in an example': {
    'packages/a/package.json': '{ "exports": { ".": {} } }',
  },
  'no test passes by luck': {
    'packages/a/src/a.test.ts': 'expect(performance.now() - start).toBeLessThan(100)',
  },
  'no file knows the machine it was written on': { 'docs/a.md': `in ${homedir()}/lamella` },
  'no file names the host of a registry': {
    'pnpm-lock.yaml': 'tarball: https://example.com/a.tgz',
  },
}

describe.each(Object.entries(rules))('%s', (name, rule) => {
  test('holds in this repository', () => {
    expect(rule(repository)).toEqual([])
  })

  test('is broken by an offence', () => {
    const offence = new Map(Object.entries(offences[name as keyof typeof rules]))

    expect(rule(offence)).not.toEqual([])
  })
})

test.each([
  ["await import('node:fs')", 'core imports nothing from outside itself'],
  ["import { a } from '../../testing/src/a.ts'", 'core imports nothing from outside itself'],
  ["import '@lamella/testing'", 'core imports nothing from outside itself'],
  ['new Uint8Array(Buffer.from(text))', 'core and the foundations run without Node'],
  ['export default 1', 'everything is exported by name'],
  ['export { a as default }', 'everything is exported by name'],
] as const)('`%s` in core breaks "%s"', (text, name) => {
  expect(rules[name](new Map([['packages/core/src/a.ts', text]]))).toHaveLength(1)
})

test.each([
  ['expect(Date.now() - start).toBeLessThan(9_999)', 1],
  ['const start = performance.now()', 1],
  ['const at = Date.now()', 0],
  ["expect(text).not.toContain('4111')", 1],
  ["expect(text).not.toContain('c9')", 1],
  ["expect(text).not.toContain('4111 1111')", 0],
  ["expect(text).not.toContain('bad')", 1],
  ["expect(text).not.toContain('rotten')", 0],
  ["if (JSON.stringify(messages).includes('bad')) throw new Error()", 1],
])('%s passes by luck %i times', (text, count) => {
  expect(
    rules['no test passes by luck'](new Map([['packages/a/src/a.test.ts', text]])),
  ).toHaveLength(count)
})

test('a file in a folder may import from another folder of its package, and no further', () => {
  const tree = (specifier: string): Tree =>
    new Map([['packages/core/src/run/a.ts', `import { b } from '${specifier}'`]])

  expect(rules['core imports nothing from outside itself'](tree('../base/b.ts'))).toEqual([])
  expect(rules['a package imports no sibling'](tree('../base/b.ts'))).toEqual([])
  expect(rules['core imports nothing from outside itself'](tree('../../b.ts'))).toHaveLength(1)
  expect(rules['a package imports no sibling'](tree('../../b.ts'))).toHaveLength(1)
})

test('a folder without a place in the order, and an import of an entry, break the order', () => {
  const problems = (path: string, specifier: string) =>
    rules['a folder imports only from folders below it'](
      new Map([[path, `import { a } from '${specifier}'`]]),
    )

  expect(problems('packages/core/src/agent/a.ts', '../base/a.ts')).toEqual([])
  expect(problems('packages/core/src/index.ts', './agent/a.ts')).toEqual([])
  expect(problems('packages/core/src/agent/a.ts', '../index.ts')).toHaveLength(1)
  expect(problems('packages/core/src/attic/a.ts', '../base/a.ts')).toHaveLength(1)
  expect(problems('packages/transport/src/http/a.ts', '../failures/a.ts')).toEqual([])
  expect(problems('packages/transport/src/failures/a.ts', '../http/a.ts')).toHaveLength(1)
})

test('words in comments and names that only look alike break nothing', () => {
  const text = `
    // process.env is not read here; see import('node:fs')
    /* export default */
    await middleware.process(context, callNext)
    const { process } = middleware
    process.call(middleware, context, callNext)
    export { a } from './a.ts'`
  const tree: Tree = new Map([['packages/core/src/a.ts', text]])

  expect(rules['core and the foundations run without Node'](tree)).toEqual([])
  expect(rules['core imports nothing from outside itself'](tree)).toEqual([])
  expect(rules['everything is exported by name'](tree)).toEqual([])
})

test('tests may use the testing package, sources may not', () => {
  const text = "import { a } from '@lamella/testing'"
  const rule = rules['a package imports no sibling']

  expect(rule(new Map([['packages/a/src/a.test.ts', text]]))).toEqual([])
  expect(rule(new Map([['packages/a/src/a.ts', text]]))).toHaveLength(1)
})

test.each([
  ['retry.ts', true],
  ['retry.test.ts', true],
  ['retry.property.test.ts', true],
  ['retry.long.test.ts', true],
  ['memory.node.test.ts', true],
  ['tool.test-d.ts', true],
  ['modes.test-helper.ts', true],
  ['Retry.ts', false],
  ['retry.helper.ts', false],
  ['retry.property.ts', false],
  ['types.ts', false],
  ['utils.test.ts', false],
])('%s is a name for a file: %s', (name, isName) => {
  const tree: Tree = new Map([[`packages/a/src/${name}`, '']])

  expect(rules['a file is named after what it exports'](tree)).toHaveLength(isName ? 0 : 1)
})
