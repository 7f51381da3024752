import { Agent } from '@lamella/core'
import { assertChunkInvariant, scriptedClient } from '@lamella/testing'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { promptInjection } from './index.ts'
import { findImages } from './find-images.ts'
import { judgeOutput } from './judge-output.ts'

const allowHosts = ['good.example']
const kept = (text: string): string => {
  const { spans = [] } = judgeOutput({ text }, undefined, { allowHosts })
  return spans.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text)
}

describe('images that would be fetched from elsewhere are found', () => {
  test.each([
    '![x](https://evil.example/?q=1)',
    '![x](//evil.example/a)',
    '![x](<https://evil.example/a b>)',
    '![x]( https://evil.example/a "title")',
    '![a [b] c](http://evil.example)',
    '![x](https://good.example.evil.example/a)',
    '![x](https://good.example@evil.example/a)',
    '![x](https:\\\\evil.example/a)',
    '![x](&#104;ttps://evil.example/a)',
    '![x][1]',
    '![x][]',
    '![x]',
    '<img src="https://evil.example/a">',
    "<IMG alt=x SRC = 'https://evil.example/a'>",
    '<img srcset="https://evil.example/a 2x">',
  ])('%s', (image) => {
    expect(kept(`before ${image} after`)).toBe('before  after')
  })
})

test.each([
  '![x](https://good.example/a?b=1)',
  '![x](https://cdn.good.example/a)',
  '![x](/local.png)',
  '![x](data:image/png;base64,AAAA)',
  '[x](https://evil.example/a)',
  'let v = vec![1, 2, 3];',
  '\\![x](https://evil.example',
  'wow! [x](https://evil.example/a)',
  '<img src="/local.png">',
  '<imgx>',
])('%s stays', (text) => {
  expect(kept(text)).toBe(text)
})

test('what may still become an image is pending, and no more than 2,048 characters of it', () => {
  const pendingOf = (text: string) => findImages(text).pending - text.length

  expect(pendingOf('a ![x](https://e')).toBe(-14)
  expect(pendingOf('a !')).toBe(-1)
  expect(pendingOf('a <im')).toBe(-3)
  expect(pendingOf('a ![x](y) b')).toBe(0)
  expect(pendingOf(`![${'x'.repeat(3000)}`)).toBe(0)
})

test('however an answer is cut, the same comes of it', async () => {
  const pieces = array(
    constantFrom(
      '!',
      '[',
      ']',
      '(',
      ')',
      '<img ',
      'src="//e.example"',
      '>',
      'https://e.example/',
      'a',
      '\\',
      '\n',
      ' canary-',
      '0f',
    ),
    { maxLength: 24 },
  )
  const holds = asyncProperty(pieces, (parts) =>
    assertChunkInvariant(() => promptInjection(), { replies: [parts.join('')], randomCuts: 3 }),
  )

  await expect(assert(holds, { numRuns: 60 })).resolves.toBeUndefined()
})

test('the marker of the instructions stays the same, so that caches hold', async () => {
  const client = scriptedClient(() => 'Hi.')
  const ask = (instructions: string) =>
    new Agent({ client, instructions, middleware: promptInjection() }).run('Hello')

  await ask('Be nice.')
  await ask('Be nice.')
  await ask('Be kind.')

  const [first, second, third] = client.requests.map(({ instructions }) => instructions)
  expect(first).toMatch(/^canary-[0-9a-f]{16}\nBe nice\.$/)
  expect(second).toBe(first)
  expect(third?.slice(0, 23)).not.toBe(first?.slice(0, 23))
})
