import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const sources = globSync('packages/*/src/**/*.ts')
  .filter((path) => !/\.test(-d|-helper)?\.ts$/.test(path))
  .map((path) => withoutComments(readFileSync(path, 'utf8')))
const classes = errorClasses(sources)
const markdown = readFileSync('docs/errors.md', 'utf8')

test('each code that is raised has a row, with the class that is raised', () => {
  const raised = new Set(sources.flatMap((text) => raisedCodes(text, classes)))
  const documented = new Set(
    rows('Codes')
      .filter(([, owner]) => owner !== '')
      .map(([code, owner]) => `${code} ${owner}`),
  )

  expect([...documented].toSorted()).toEqual([...raised].toSorted())
})

test('each code that is declared has a row', () => {
  const declared = unionOf('type ErrorCode =')
  const documented = rows('Codes').map(([code]) => code)

  expect(declared).toContain('aborted')
  expect(documented).toEqual(expect.arrayContaining(declared))
})

test('the codes are in the order of the alphabet, each once', () => {
  const codes = rows('Codes').map(([code]) => code)

  expect(codes).toEqual([...new Set(codes)].toSorted())
})

test.each([
  ['Kinds of ProviderError', 'type ProviderErrorKind ='],
  ['Errors of a tool call', 'interface FunctionError {'],
])('the table "%s" has what the type has', (heading, declaration) => {
  expect(rows(heading).map(([name]) => name)).toEqual(unionOf(declaration))
})

describe('what is taken for a raised code', () => {
  const known = new Set(['LamellaError', 'MyError'])

  test.each([
    ["throw new LamellaError('a) b', { code: 'my_code' })", ['my_code LamellaError']],
    [
      "class MyError extends LamellaError { constructor() { super(`no (${x}`, { code: 'mine' }) } }",
      ['mine MyError'],
    ],
    [
      "class MyError extends LamellaError { constructor(code = 'mine') { super('m', { code }) } }",
      ['mine MyError'],
    ],
    [
      "class MyError extends LamellaError { constructor() { super('m', {}, 'mine') } }",
      ['mine MyError'],
    ],
    ["throw new WireRejection(400, { code: 'theirs' })", []],
    ["const error = { code: 'theirs' }", []],
  ])('%s', (text, found) => {
    expect(raisedCodes(text, known)).toEqual(found)
  })
})

/** Names of all classes that extend `LamellaError`, directly or not. */
function errorClasses(texts: readonly string[]): Set<string> {
  const found = new Set(['LamellaError'])
  const pairs = texts.flatMap((text) => [...text.matchAll(/class (\w+)[^{]*? extends (\w+)/g)])
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const [, name = '', base = ''] of pairs) if (found.has(base)) found.add(name)
  }
  return found
}

/** `code Class` for each code that a source gives to one of the classes. */
function raisedCodes(text: string, known: ReadonlySet<string>): string[] {
  const thrown = [...text.matchAll(/new (\w+)\(/g)]
    .filter(([, name = '']) => known.has(name))
    .flatMap(({ index, 0: start, 1: name = '' }) =>
      codesIn(argumentsAt(text, index + start.length)).map((code) => `${code} ${name}`),
    )
  const declared = [...text.matchAll(/class (\w+)[^{]*? extends (\w+)[^{]*\{/g)]
    .filter(([, , base = '']) => known.has(base))
    .flatMap(({ index, 0: start, 1: name = '' }) => {
      const body = text.slice(index + start.length).split(/\n\}|\bclass /)[0] ?? ''
      const byDefault = [...body.matchAll(/\bcode = '(\w+)'/g)].map(([, code = '']) => code)
      const call = body.indexOf('super(')
      const given = call < 0 ? '' : argumentsAt(body, call + 'super('.length)
      const last = /,\s*'([a-z_]+)',?\s*$/.exec(given)?.[1]
      return [...byDefault, ...codesIn(given), ...(last === undefined ? [] : [last])].map(
        (code) => `${code} ${name}`,
      )
    })
  return [...thrown, ...declared]
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/\bcode: '(\w+)'/g)].map(([, code = '']) => code)
}

/** What stands between parentheses, of which the first one ends before `start`. */
function argumentsAt(text: string, start: number): string {
  const token = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|[()]/g
  token.lastIndex = start
  let depth = 1
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '(') depth++
    if (found[0] === ')') depth--
    if (depth === 0) return text.slice(start, found.index)
  }
  return ''
}

/** The names in the first union of literals after a declaration in core. */
function unionOf(declaration: string): string[] {
  const text = sources.find((source) => source.includes(declaration)) ?? ''
  const union = /(\s*\|\s*(?:'\w+'|\(.*\)))+/.exec(text.slice(text.indexOf(declaration)))?.[0] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
}

/** First and second cell of each row of the table under a heading, without the marks of code. */
function rows(heading: string): [string, string][] {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)].map(([, name = '', second = '']) => [
    name,
    second.replaceAll('`', '').trim(),
  ])
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '')
}
