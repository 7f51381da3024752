import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { GptEncodingName } from './gpt-encoding.ts'
import { encodingOf, gptEncodingNames, loadEncoding } from './gpt-encoding.ts'
import { counterFor } from './token-counter.ts'

test.each<[string, GptEncodingName | undefined]>([
  ['gpt-4o', 'o200k_base'],
  ['gpt-4.1-mini', 'o200k_base'],
  ['gpt-5.6-terra', 'o200k_base'],
  ['o1-preview', 'o200k_base'],
  ['ft:gpt-4o-mini:acme', 'o200k_base'],
  ['gpt-4-0613', 'cl100k_base'],
  ['gpt-35-turbo', 'cl100k_base'],
  ['claude-opus-5', undefined],
  ['', undefined],
])('the vocabulary of %s is %s', (model, name) => {
  expect(encodingOf(model)).toBe(name)
})

test('counts as the tokenizer itself does', async () => {
  // Its own types need those of a browser.
  const require = createRequire(import.meta.url)
  const { encode } = require('gpt-tokenizer/encoding/o200k_base') as {
    encode: (text: string) => readonly number[]
  }
  const text = 'Il était une fois 12345 “naïve” cats.\n\n  const x = { y: [1, 2] }'

  expect((await loadEncoding('o200k_base'))?.(text)).toBe(encode(text).length)
})

test('without the tokenizer there is an estimate that says so', async () => {
  const missing = 'a_base' as GptEncodingName

  expect(await loadEncoding(missing)).toBeUndefined()
  expect(await counterFor('gpt-4o', { encoding: missing })).toMatchObject({ method: 'estimate' })
})

test('the names of special tokens are text', async () => {
  const count = await loadEncoding('o200k_base')

  expect(count?.('<|endoftext|>')).toBeGreaterThan(1)
})

// Test data that is kept beside the repository and never in it.
const file = fileURLToPath(new URL('../../../../shared/corpora/tokens.jsonl', import.meta.url))
const measured = existsSync(file) ? test : test.skip
if (!existsSync(file)) console.warn(`maxTokens: not measured, there is no ${file}`)

measured.each(gptEncodingNames)(
  '%s counts what the corpus says, but in words of more than 64 characters',
  async (name) => {
    const count = (await loadEncoding(name))!
    const rows: Record<string, never>[] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

    const ordinary = rows.filter(({ text }) => !/\S{65}|\s{65}/u.test(text!))
    const wrong = ordinary.filter((row) => count(row['text']!) !== row[name])

    expect(ordinary.length).toBeGreaterThan(500)
    expect(wrong).toEqual([])
  },
)
