import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { foundations } from './conventions.ts'
import { sourcesOf } from './find-sources.ts'
import { declarations } from './option-fields.ts'
import { optionProblems, withOptions } from './option-tables.ts'

/** What a function of the user is given, which nobody sets. */
const given = new Set(['FindOptions', 'FlexibleLimiterOptions'])

const own =
  /^(middleware-|guardrail-|otel$|mcp$|worker-bullmq$|durable$|openai$|anthropic$|azure-openai$|google$|clients$)/
const packages = globSync('packages/*')
  .map((folder) => folder.slice('packages/'.length))
  .filter((name) => own.test(name))

describe.each(packages)('the tables of %s', (name) => {
  test('tell every option, no other, and the defaults that the types tell', () => {
    const types = declarations([
      ...sourcesOf(name),
      ...(name === 'azure-openai' ? sourcesOf('openai') : []),
      ...[...foundations, 'core'].flatMap(sourcesOf),
    ])
    const index = read(`packages/${name}/src/index.ts`)
    const exported = [...index.matchAll(/\b(\w+Options)\b/g)]
      .map(([, type = '']) => type)
      .filter((type) => !given.has(type))

    expect(optionProblems(read(`packages/${name}/README.md`), exported, types)).toEqual([])
  })
})

test('the table of guardrails tells what all guardrails share', () => {
  const types = declarations(sourcesOf('guardrail'))

  expect(optionProblems(read('docs/guardrails.md'), ['GuardrailOptions'], types)).toEqual([])
})

test('the tables of an agent and of a run tell every option', () => {
  const types = declarations(sourcesOf('core'))
  const readme = read('packages/core/README.md')

  expect(readme).toContain('<!-- options AgentOptions -->')
  expect(readme).toContain('<!-- options RunOptions -->')
  expect(optionProblems(readme, ['AgentOptions', 'RunOptions'], types)).toEqual([])
})

const types = declarations([
  `
interface MiddlewareOptions {
  /** @default always */
  readonly when?: (() => boolean) | undefined
}

export interface AOptions
  extends Omit<BOptions, 'hidden'>,
    MiddlewareOptions {
  /** Needed. */
  readonly limits: readonly number[]
  /**
   * After that it gives up.
   * @default 30_000, the usual
   */
  readonly waitMs?: number | undefined
  readonly keep?: {
    /** @default true */
    readonly first?: boolean
  }
}

interface BOptions {
  readonly hidden?: string
  /** @default 'a' */
  readonly kind?: 'a' | 'b'
}
`,
])
const head = '<!-- options AOptions -->\n\n| option | default | |\n|---|---|---|\n'
const good = [
  '| `limits` | required | |',
  "| `waitMs`, `kind` | 30 000, `'a'` | |",
  '| `keep.first` | `true` | |',
  '| `when()` | always | |',
]

test('a table that tells all is right', () => {
  expect(optionProblems(head + good.join('\n'), ['AOptions'], types)).toEqual([])
})

test.each([
  ['an option without a row', good.slice(1), 'AOptions: `limits` has no row'],
  ['a row without an option', [...good, '| `hidden` | none | |'], 'there is no option `hidden`'],
  [
    'a default that differs',
    ["| `kind` | `'b'` | |", ...good],
    "`kind` is `'b'` here and 'a' there",
  ],
  ['a default that is left out', ['| `kind` | | |', ...good], '`kind` is nothing here'],
  ['a default nobody knows', ['| `waitMs`, `kind` | the usual | |'], '`waitMs` is the usual here'],
  [
    'defaults that cannot be told apart',
    ['| `limits`, `waitMs`, `kind` | 1, 2 | |'],
    'which default',
  ],
  ['something required as if it were not', ['| `limits` | none | |'], '`limits` is required'],
])('%s is found', (_, rows, problem) => {
  const found = optionProblems(head + rows.join('\n'), ['AOptions'], types)

  expect(found.join('\n')).toContain(problem)
})

test('a table is completed from the types, and what is right in it stays', () => {
  const rows = [
    '| `waitMs`, `keep.first` | 30 000, `true` | told |',
    "| `kind` | `'b'` | |",
    '| `gone` | | |',
  ]

  const completed = withOptions(`${head}${rows.join('\n')}\n\nMore.\n`, types)

  expect(optionProblems(completed, ['AOptions'], types)).toEqual([])
  expect(completed).toBe(
    `${head}${rows[0]}\n| \`kind\` | \`'a'\` | |\n| \`when\` | always |  |\n| \`limits\` | required | needed |\n\nMore.\n`,
  )
  expect(withOptions(completed, types)).toBe(completed)
})

test('a type without a table is told in one code span, with its defaults', () => {
  const told = (span: string) => optionProblems(`Such as \`${span}\`.`, ['BOptions'], types)

  expect(told("{ kind: 'a', hidden }")).toEqual([])
  expect(told("{ kind: 'b', hidden }")).toEqual(["BOptions: `kind` is 'b' here and 'a' there"])
  expect(told('{ kind }')).toHaveLength(1)
})

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
