import { Agent } from '@lamella/core'
import { assertChunkInvariant, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { promptInjection } from '../index.ts'
import { findImages } from './find-images.ts'
import { judgeOutput } from './judge-output.ts'

const allowHosts = ['good.example']
const kept = (text: string): string => {
  const { spans = [] } = judgeOutput({ text, final: true }, undefined, { allowHosts })
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
    '<img src  =  "https://evil.example/a">',
    '<img src\n="https://evil.example/a">',
    '<img alt=">" src="https://evil.example/a">',
    '<img src="ht\ttps://evil.example/a">',
    '<img src="/\n/evil.example/a">',
    '<img src="https:evil.example/a">',
    '<img src="&#104;ttps://evil.example/a">',
    '<img src="https&colon;&sol;&sol;evil.example/a">',
    '<img srcset="/a.png 1x, https://evil.example/a 2x">',
    '<image href="https://evil.example/a"/>',
    '<use href="//evil.example/a#b"/>',
    '<input type=image src=//evil.example/a>',
    '<video poster="https://evil.example/a">',
    '<source srcset="https://evil.example/a">',
    '<iframe src="/local">',
    '<link rel=stylesheet href="/local.css">',
    '<style>',
    '<base href="/x">',
    '<div style="background:url(https://evil.example/a)">',
    '<a href="/x" ping="https://evil.example/a">',
    '<x-y style="background:url(\\2f\\2f evil.example)">',
    '<td background="//evil.example/a">',
    '![a](https:evil.example/a)',
  ])('%s', (image) => {
    expect(kept(`before ${image} after`)).toBe('before  after')
  })
})

test.each([
  '![a `](/x)` b](https://evil.example/a)',
  '![a <b title="](/x)"> b](https://evil.example/a)',
  '!![a](https://evil.example/a)(https://evil.example/b)',
])('of %s, no image is left', (text) => {
  expect(findImages(kept(text)).images).toEqual([])
})

test.each([
  '<img src="data:image/png;base64,AA//BB">',
  '![x](https://good.example/a?b=1)',
  '![x](https://cdn.good.example/a)',
  '![x](/local.png)',
  '![x](data:image/png;base64,AAAA)',
  '[x](https://evil.example/a)',
  'let v = vec![1, 2, 3];',
  '\\![x](https://evil.example',
  'wow! [x](https://evil.example/a)',
  '<img src="/local.png" alt="a & b">',
  '<img src="https://good.example/a?b=1&amp;c=2">',
  '<imgx>',
  '<a href="https://evil.example/a">x</a>',
  'Map<String, List<Integer>> and a<b && c>d',
  '[1]: https://evil.example/a',
])('%s stays', (text) => {
  expect(kept(text)).toBe(text)
})

test('what may still become an image is pending, and of one that is longer than 4,096 characters the opening goes', () => {
  const pendingOf = (text: string) => findImages(text).pending - text.length
  const long = 'x'.repeat(5000)

  expect(pendingOf('a ![x](https://e')).toBe(-14)
  expect(pendingOf('a !')).toBe(-1)
  expect(pendingOf('a <im')).toBe(-3)
  expect(pendingOf('a ![x](y) b')).toBe(0)
  expect(pendingOf(`![${long}`)).toBe(0)
  expect(kept(`a ![${long}](https://evil.example/a)`)).toBe(`a ${long}](https://evil.example/a)`)
  expect(kept(`a ![x](https://evil.example/${long})`)).toBe(`a x](https://evil.example/${long})`)
  expect(kept(`a <img src="https://evil.example/${long}">`)).toBe(
    `a  src="https://evil.example/${long}">`,
  )
})

test('a tag that the end of an answer leaves open is removed', () => {
  const text = 'Hello <img src="https://evil.example/?d='

  expect(judgeOutput({ text, final: true }, undefined, {}).action).toBe('replace')
})

test('a reference behind a letter is an image, but for one that looks like code', () => {
  expect(kept('a![x]\n\n[x]: https://evil.example/a')).toBe('a\n\n[x]: https://evil.example/a')
  expect(kept('a![x, y]\n\n[x, y]: https://evil.example/a\n')).toBe('a![x, y]\n\n\n')
})

test.each([
  '\\![]!',
  '<img [(>]',
  'a![x, y]\n\n[x, y]: https://evil.example/a\n',
  '> [x, y]: https://evil.example/a\n',
])('%j in single characters comes out as in one piece', async (reply) => {
  await expect(
    assertChunkInvariant(() => promptInjection(), { replies: [reply] }),
  ).resolves.toBeUndefined()
})

test('a text in brackets within a line defines no label and stays', () => {
  expect(kept('def f(x[a, b]: int')).toBe('def f(x[a, b]: int')
  expect(kept('> - [x, y]: https://evil.example/a\n')).toBe('> - \n')
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
