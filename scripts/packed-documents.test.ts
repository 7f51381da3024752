import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { internalLinks } from './conventions/markdown.ts'
import { packedDocuments } from './packed-documents.ts'

const text = (documents: ReturnType<typeof packedDocuments>, path: string): string =>
  String(documents.get(path))

describe.each(readdirSync('packages'))('the tarball of %s', (folder) => {
  test('contains every file that its documents link to', () => {
    const documents = packedDocuments(`packages/${folder}`)

    const pages = [...documents.keys()].filter((path) => path.endsWith('.md'))
    const dead = pages.flatMap((page) =>
      internalLinks(text(documents, page))
        .map(({ target }) => target.replace(/#.*$/, ''))
        .filter((target) => target !== '')
        .map((target) => posix.join(posix.dirname(page), target))
        .filter((path) => !documents.has(path)),
    )

    expect(pages).toContain('README.md')
    expect(dead).toEqual([])
  })
})

test('a README links to the copies of pages and examples, and names other packages', () => {
  const documents = packedDocuments('packages/core')
  const sqlite = text(packedDocuments('packages/store-sqlite'), 'README.md')

  expect(text(documents, 'README.md')).toContain('](docs/streaming.md)')
  expect(text(documents, 'README.md')).toContain('](examples/69-a-loop-of-your-own.ts)')
  expect(text(documents, 'docs/guardrails.md')).toContain('](hold-back.svg)')
  expect(sqlite).toContain('@lamella/testing')
  expect(sqlite).not.toContain('../testing')
})

test('a README contains the pictures of its package', () => {
  const documents = packedDocuments('packages/picture')

  expect([...documents.keys()]).toContain('screenshots/phone.png')
  expect(text(documents, 'README.md')).toContain('](screenshots/dark.png)')
})

test('with a homepage, a README links to the site, and its pages still link to each other', () => {
  const documents = packedDocuments('packages/core', 'https://docs.example/lamella/')

  expect(text(documents, 'README.md')).toContain(
    '](https://docs.example/lamella/docs/streaming.html)',
  )
  expect(text(documents, 'README.md')).toContain('](https://docs.example/lamella/packages/openai/)')
  expect(text(documents, 'docs/order.md')).toContain('](streaming.md')
})

test('links in code stay as they are', () => {
  const readme = text(packedDocuments('packages/guardrail-injection'), 'README.md')

  expect(readme).toContain('`![a](`')
})
