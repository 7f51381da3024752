import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { measures } from './documentation.ts'
import { repository, type Tree } from './tree.ts'

type Measure = keyof typeof measures

/** How many problems a package still has: they may only become fewer. */
const limits = JSON.parse(
  readFileSync(new URL('documentation-limits.json', import.meta.url), 'utf8'),
) as Partial<Record<Measure, Record<string, number>>>

const manifest =
  '{ "name": "@lamella/a", "exports": { ".": { "@lamella/source": "./src/index.ts" } } }'

/** For each measure, a source of package `a` that has one problem. */
const offences: Record<Measure, Record<string, string>> = {
  'public names without a doc comment': {
    'packages/a/src/index.ts': '/** Options. */\nexport interface AOptions { size: number }',
  },
  'main exports without an @example': {
    'packages/a/README.md': "```ts\nimport { a } from '@lamella/a'\n```",
    'packages/a/src/index.ts': '/** Makes an A. */\nexport function a(): void {}',
  },
  'doc comments that begin with What, Whether or Where': {
    'packages/a/src/a.ts': '/**\n * What it does.\n */\nconst a = 1',
  },
  'words that this repository replaces': {
    'packages/a/src/a.ts': '// The layer outside of it.',
  },
  'phrases of documents that have better ones': {
    'packages/a/README.md':
      'What is removed is sent nowhere.\n\n```ts\n// a layer\n```\n\nWhat is a run?',
  },
  'sentences of more than 45 words': {
    'packages/a/README.md': `A middleware${' of a run'.repeat(15)} ends.\n\nIt is short.`,
  },
}

describe.each(Object.entries(measures))('%s', (name, measure) => {
  const title = name as Measure

  test('there are no more of them than before', () => {
    const found = [...measure(repository)].filter(
      ([owner, problems]) => problems.length > (limits[title]?.[owner] ?? 0),
    )

    expect(Object.fromEntries(found)).toEqual({})
  }, 60_000)

  test('one is found', () => {
    expect(problemsOf(title, offences[title])).toHaveLength(1)
  })
})

describe('a public name', () => {
  const undocumented = (files: Record<string, string>) =>
    problemsOf('public names without a doc comment', files)

  test('is documented by itself, by what it implements or overrides, or by a literal type', () => {
    const source = `
      /** Has a size. */
      export interface Sized {
        /** In bytes. */
        readonly size: number
        readonly kind: 'sized'
      }
      /** A box. */
      export class Box implements Sized {
        readonly size = 1
        readonly kind: 'sized' = 'sized'
        color = 'red'
        #secret = 1
        private hidden = 2
        /** @internal */
        inner = 3
      }`

    expect(undocumented({ 'packages/a/src/index.ts': source })).toEqual(['Box.color'])
  })

  test('may be inherited from a type that is not exported, in another file and folder', () => {
    expect(
      undocumented({
        'packages/a/src/index.ts': "export type { AOptions } from './room/a-options.ts'",
        'packages/a/src/room/a-options.ts': `
          import type { Base } from '../base.ts'
          /** Options. */
          export interface AOptions extends Omit<Base, 'x'> { limits: { size: number } }`,
        'packages/a/src/base.ts': 'export interface Base { depth: number }',
      }),
    ).toEqual(['Base.depth', 'AOptions.limits', 'AOptions.limits.size'])
  })

  test('that a package exports of another one is not its own', () => {
    expect(
      undocumented({ 'packages/a/src/index.ts': "export { Agent } from '@lamella/core'" }),
    ).toEqual([])
  })
})

test.each([
  ['const chatLayer = 1', true],
  ['// ten layers deep', false],
  ['class AudioPlayer {}', false],
  ['interface InputGuard {}', true],
  ['// a guardrail, GuardrailOptions, a type guard', false],
  ['// the run goes on', true],
  ['// it gives up on a call', true],
  ['// the ongoing run', false],
])('`%s` has a word that is replaced: %s', (text, isFound) => {
  const found = problemsOf('words that this repository replaces', { 'packages/a/src/a.ts': text })

  expect(found).toHaveLength(isFound ? 1 : 0)
})

function problemsOf(title: Measure, files: Record<string, string>): readonly string[] {
  const tree: Tree = new Map(Object.entries({ 'packages/a/package.json': manifest, ...files }))
  return measures[title](tree).get('a') ?? []
}
