import { describe, expect, test } from 'vitest'
import { snippets } from './markdown.ts'
import { repository } from './tree.ts'

/** Packages that the first block of code needs and that no install command of the document names. */
function missingPackages(markdown: string): string[] {
  const commands = [...markdown.matchAll(/^```sh\n([^]*?)^```/gm)]
    .map(([, block = '']) => block)
    .filter(
      (block) => block.includes('npm install @') || block.includes('npm install --save-dev @'),
    )
  if (commands.length === 0) return []
  const installed = commands.join(' ').split(/\s+/)
  const [first] = snippets(markdown)
  const imported = [...(first?.code ?? '').matchAll(/from '((?:@[^/']+\/)?[^/']+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'))
  return [...new Set(imported)].filter((name) => !installed.includes(name))
}

const documents = [...repository].filter(
  ([path, text]) =>
    /^(README|docs\/.*|packages\/[^/]+\/README)\.md$/.test(path) && text.includes('npm install'),
)

describe('who copies the install command and the first block of a document', () => {
  test.each(documents)('has every package: %s', (_, markdown) => {
    expect(missingPackages(markdown)).toEqual([])
  })

  test('would miss a package that no command names', () => {
    const markdown =
      "```sh\nnpm install @a/b\n```\n\n```ts\nimport { b } from '@a/b'\nimport { z } from 'zod'\n```\n"

    expect(missingPackages(markdown)).toEqual(['zod'])
  })
})
