import { Agent } from '@lamella/core'
import { assertChunkInvariant, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { pii } from '../pii.ts'
import { findPii } from './find-pii.ts'

const values = [
  ['email', 'ann@example.com'],
  ['email', 'müller@example.com'],
  ['credit_card', '4111 1111 1111 1111'],
  ['credit_card', '5555-5555-5555-4444'],
  ['iban', 'DE89 3704 0044 0532 0130 00'],
  ['phone', '+44 20 7946 0958'],
  ['ip', '2001:db8::8a2e:370:7334'],
  ['mac', '00:1B:44:11:3A:B7'],
  ['secret', 'Bearer abcdefghijklmnopqrstuvwxyz0123456789'],
] as const

const encodings = {
  'percent escapes': encodeURIComponent,
  'a form': (value: string) => new URLSearchParams({ q: value }).toString().slice(2),
  'percent escapes of all': (value: string) =>
    Array.from(new TextEncoder().encode(value), (byte) => `%${byte.toString(16)}`).join(''),
  'escapes twice': (value: string) => encodeURIComponent(encodeURIComponent(value)),
  'escapes three times': (value: string) =>
    encodeURIComponent(encodeURIComponent(encodeURIComponent(value))),
}

describe.each(Object.entries(encodings))('in %s', (_, encode) => {
  test.each(values)('a value of a query is found: %s %s', (kind, value) => {
    const encoded = encode(value)
    const text = `See https://x.example/path?to=${encoded}&z=1 for it.`

    const found = findPii(text)

    expect(found).toHaveLength(1)
    expect(found[0]?.kind).toBe(kind)
    const { start, end } = found[0]!
    expect(encoded.endsWith(text.slice(start, end))).toBe(true)
  })
})

test.each([
  'mailto:ann%40example.com',
  'tel:%2B442079460958',
  'https://ann%40example.com@x.example/',
])('what a URI has without a query is found: %s', (text) => {
  expect(findPii(text).length).toBeGreaterThan(0)
})

test.each([
  'printf("%20d of %40s")',
  'It is 100%40 off, 20%25 of it.',
  'https://x.example/%E4%BD%A0%E5%A5%BD?x=1+2&y=a+b',
  'a%zz %4 % %%%',
])('nothing is found in %s', (text) => {
  expect(findPii(text)).toEqual([])
})

test('a fourth level is not decoded', () => {
  const deep = [1, 2, 3, 4].reduce((text) => encodeURIComponent(text), 'ann@example.com')

  expect(findPii(`mailto:${deep}`)).toEqual([])
})

test('an answer that is streamed has its encoded values replaced, however it is cut', async () => {
  const answer = 'Open https://x.example/?to=ann%2540example.com&card=4111+1111+1111+1111 now.'
  const agent = new Agent({ client: scriptedClient([answer]), middleware: pii() })

  expect((await agent.run('Hello')).text).toBe(
    'Open https://x.example/?to=[EMAIL]&card=[CREDIT_CARD] now.',
  )
  await assertChunkInvariant(() => pii(), {
    replies: [answer],
    chunkings: ['char', { seed: 1 }, { seed: 2 }],
  })
})

test('the address of a file is read, too', async () => {
  const client = scriptedClient(['Done.'])
  const agent = new Agent({ client, middleware: pii({ unsupported: 'allow' }) })
  const uri = 'https://x.example/a.png?to=ann%40example.com'

  await agent.run([{ type: 'uri', uri, mediaType: 'image/png' }])

  expect(JSON.stringify(client.requests)).toContain('a.png?to=[EMAIL]')
})
