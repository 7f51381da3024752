import { expect, test } from 'vitest'
import { anchors, docExamples, internalLinks, snippets, uncheckedFences } from './markdown.ts'

test('a block keeps the line numbers of its document', () => {
  const markdown = 'Title\n\n```ts\nconst a = 1\n```\n\n```sh\nls\n```\n'

  const found = snippets(markdown)

  expect(found).toEqual([{ code: '\n\n\nconst a = 1', line: 3 }])
})

test('a context comment is compiled with the block after it, and with no other', () => {
  const markdown =
    '<!-- context\ndeclare const a: number\n-->\n\n```ts\na + 1\n```\n\n```ts\nlater\n```'

  const [first, second] = snippets(markdown)

  expect(first?.code.split('\n')).toEqual(['', 'declare const a: number', '', '', '', 'a + 1'])
  expect(second?.code.trim()).toBe('later')
})

test('an indented block loses the indent of its fence', () => {
  expect(snippets('- item\n\n  ```ts\n  if (a) {\n    b()\n  }\n  ```')[0]?.code).toBe(
    '\n\n\nif (a) {\n  b()\n}',
  )
})

test.each(['ts no-check', 'typescript', 'tsx', 'ts,ignore'])(
  'a fence marked "%s" is reported',
  (info) => {
    expect(uncheckedFences(`\`\`\`${info}\nx\n\`\`\``)).toEqual([1])
  },
)

test('links to other sites, in code and in code blocks are left alone', () => {
  const markdown =
    '[a](./a.md#b) [c](https://example.com)\n`[d](e.md)`\n```\n[f](g.md)\n```\n[h](#i)'

  expect(internalLinks(markdown)).toEqual([
    { target: './a.md#b', line: 1 },
    { target: '#i', line: 6 },
  ])
})

test('headings become the anchors that GitHub makes of them', () => {
  const markdown =
    '# The `retry()` middleware\n## Errors & codes\n## Errors & codes\n```sh\n# no\n```'

  expect([...anchors(markdown)]).toEqual([
    'the-retry-middleware',
    'errors--codes',
    'errors--codes-1',
  ])
})

test('examples in doc comments are found, at the lines where they stand', () => {
  const source = `/**
 * Makes an A.
 * @default a
 * \`\`\`ts
 * notAnExample()
 * \`\`\`
 * @example
 * \`\`\`ts
 * a({
 *   size: 1,
 * })
 * \`\`\`
 */
export function a() {}`

  expect(docExamples(source)).toEqual([{ code: `${'\n'.repeat(8)}a({\n  size: 1,\n})`, line: 8 }])
})
