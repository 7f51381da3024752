import { tool } from '@lamella/core'
import { parse } from 'libpg-query'
import { parseStmt } from 'sqlite3-parser'
import { expect, test } from 'vitest'
import { testGrowthOfExports, tooFast } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'
import { nameGlob } from './rules/name-glob.ts'
import type { ArgumentRule } from './index.ts'

const { ask, fingerprint, fingerprints, maxLength, oneOf, path, range, regex } = exports
const { shell, sql, toolPolicy, url } = exports

const rules = {
  ask: ask(path({ roots: ['/srv'] })),
  maxLength: maxLength(5),
  oneOf: oneOf('EUR'),
  path: path({ roots: ['/srv'] }),
  range: range({ max: 5 }),
  regex: regex({ match: /^[a-z-]{1,20}$/ }),
  shell: shell({ allow: ['ls *'] }),
  'shell (deny)': shell({ allow: ['*'], deny: ['--output*', '*a*b*c'] }),
  url: url({ hosts: ['*.a.com'] }),
} satisfies Record<string, ArgumentRule>
const starts: Readonly<Record<string, string>> = { url: 'https://', shell: 'ls ' }

const statements = Object.fromEntries(
  (['postgresql', 'mysql', 'sqlite'] as const).flatMap((dialect) => {
    const options = {
      dialect,
      parse: dialect === 'postgresql' ? parse : parseStmt,
      tables: ['orders'],
    }
    const rule = sql(options)
    return [
      [`sql (${dialect}, too long)`, (text: string) => rule.check(`select ${text}`)],
      // The longest that a parser gets.
      [`sql (${dialect})`, (text: string) => rule.check(`select ${text.slice(0, 9990)}`)],
    ]
  }),
)
const described = (description: string) => tool({ name: 'look', description })

testGrowthOfExports(exports, {
  texts: {
    ...Object.fromEntries(
      Object.entries(rules).flatMap(([name, rule]) => [
        [name, (text: string) => rule.check(text)],
        [
          `${name.split(' ')[0]} (started)`,
          (text: string) => rule.check((starts[name] ?? '') + text),
        ],
      ]),
    ),
    ...statements,
    fingerprint: (text) => fingerprint(described(text)),
    fingerprints: (text) => fingerprints([described(text)]),
  },
  middlewares: {
    toolPolicy: () => toolPolicy({ unlisted: 'allow', rules: { look: { path: rules.path } } }),
    'toolPolicy (asking)': () => toolPolicy({ rules: { '*': { '*': rules.shell } } }),
  },
})

test('the work of a glob is linear', async () => {
  const matches = nameGlob(['a*a*a*a*a*a*a*a*b'])

  expect(await tooFast(matches, ['a'])).toEqual([])
  expect(matches('a'.repeat(100_000))).toBe(false)
})
