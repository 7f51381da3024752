import { Agent } from '@lamella/core'
import { assertChunkInvariant, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pii } from '../pii.ts'
import { findPii } from './find-pii.ts'

const values = [
  ['email', 'ann@example.com'],
  ['credit_card', '4111 1111 1111 1111'],
  ['credit_card', '5555-5555-5555-4444'],
  ['iban', 'DE89 3704 0044 0532 0130 00'],
  ['phone', '+44 20 7946 0958'],
  ['mac', '00:1B:44:11:3A:B7'],
  ['secret', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
] as const

const each = (value: string, write: (code: number) => string) =>
  Array.from(value, (character) => write(character.codePointAt(0)!)).join('')
const inside = (value: string, middle: string) => `${value.slice(0, 5)}${middle}${value.slice(5)}`

const forms: Readonly<Record<string, (value: string) => string>> = {
  'decimal entities': (value) => each(value, (code) => `&#${code};`),
  'decimal entities with zeros': (value) => each(value, (code) => `&#000${code};`),
  'decimal entities without an end': (value) => each(value, (code) => `&#${code}`),
  'hexadecimal entities': (value) => each(value, (code) => `&#x${code.toString(16)};`),
  'entities of entities': (value) => each(value, (code) => `&amp;#${code};`),
  'named entities': (value) =>
    value
      .replaceAll('@', '&commat;')
      .replaceAll('.', '&period;')
      .replaceAll(' ', '&nbsp;')
      .replaceAll(':', '&colon;')
      .replaceAll('+', '&plus;')
      .replaceAll('_', '&lowbar;')
      .replaceAll('-', '&hyphen;'),
  'a tag inside': (value) => inside(value, '<b></b>'),
  'a tag at each blank': (value) => value.replaceAll(' ', ' <b></b> '),
  'a tag with attributes inside': (value) => inside(value, '<x-y class="a b" title=\'c\'>'),
  'a long tag inside': (value) => inside(value, `<span title="${'a '.repeat(300)}">`),
  'a comment inside': (value) => inside(value, '<!-- < a > - b -->'),
  'a written tag inside': (value) => inside(value, '&lt;i&gt;'),
  'a tag around each character': (value) =>
    Array.from(value, (character) => `<i>${character}</i>`).join(''),
  'a soft hyphen inside': (value) => inside(value, '&shy;'),
}

describe.each(Object.entries(forms))('with %s', (name, write) => {
  test.each(values)('%s is found: %s', async (kind, value) => {
    const text = `See ${write(value)} for it.`

    const found = findPii(text)

    expect(found).toMatchObject([{ kind }])
    const { start, end } = found[0]!
    const rest = text.slice(0, start) + text.slice(end)
    expect(rest).toMatch(/^See (?:<i>)?(?:<\/i>)? for it\.$/)
  })

  test('is replaced in an answer that is streamed, however it is cut', async () => {
    const answer = values.map(([, value]) => `It is ${write(value)} (ok).`).join('\n')

    const said = (
      await new Agent({ client: scriptedClient([answer]), middleware: pii() }).run('Hi')
    ).text

    for (const [kind] of values) expect(said).toContain(`[${kind.toUpperCase()}]`)
    expect(findPii(said)).toEqual([])
    // A tag around each character makes a long text.
    const chunkings = name.includes('each')
      ? ([{ seed: 1 }] as const)
      : (['char', { seed: 2 }] as const)
    await assertChunkInvariant(() => pii(), { replies: [answer], chunkings: [...chunkings] })
  })
})

test.each([
  '<td>4111 1111</td><td>1111 1111</td>',
  '4111 1111<br>1111 1111',
  'if (a <b && c> d) x &= 4111;',
  'AT&T, R&D &c. &#0; &#xffffffff; &unknown; <',
])('nothing is found in %s', (text) => {
  expect(findPii(text)).toEqual([])
})

test.each(['<ann@example.com>', '<a href="mailto:ann@example.com">', '<!-- ann@example.com -->'])(
  'what a tag says is found, too: %s',
  (text) => {
    expect(findPii(text)).toMatchObject([{ kind: 'email' }])
  },
)

test('any answer has one result, however it is cut', async () => {
  const pieces = [
    '4111 ',
    '1111',
    ' ',
    '&#49;',
    '&#4',
    '9;',
    '&amp;',
    '#49;',
    '<b>',
    '</b>',
    '<i title="4111',
    '">',
    '<!-- ',
    ' -->',
    '<',
    '&',
    'ann',
    '&commat;',
    '@',
    'example.com',
    'phone ',
    'password: ',
    'hunter2hunter2',
    '\n',
    ', ',
    'word word word word ',
  ]
  const answers = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 30 })
    .map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(answers, fc.nat(), async (answer, seed) => {
      await assertChunkInvariant(() => pii(), { replies: [answer], chunkings: ['char', { seed }] })
    }),
    { numRuns: 60 },
  )
})
