import { describe, expect, it } from 'vitest'
import type { FindPiiOptions } from '../index.ts'
import { findPii } from '../index.ts'

const options: FindPiiOptions = {
  entities: [
    'contact',
    'financial',
    'gov-id-us',
    'gov-id-eu',
    'gov-id-world',
    'network',
    'secrets',
  ],
}

/** Made-up values that are found by themselves: 25 of them, in the notations they are written in. */
const values: readonly (readonly [kind: string, value: string])[] = [
  ['credit_card', '4111111111111111'],
  ['credit_card', '4111 1111 1111 1111'],
  ['credit_card', '4111-1111-1111-1111'],
  ['credit_card', '3782 822463 10005'],
  ['ssn', '536-90-4399'],
  ['phone', '415-666-7777'],
  ['phone', '(415) 666-7777'],
  ['phone', '+44 20 7946 0958'],
  ['phone', '+442079460958'],
  ['iban', 'DE89370400440532013000'],
  ['iban', 'GB29 NWBK 6016 1331 9268 19'],
  ['ip', '203.0.113.9'],
  ['ip', '2001:db8::8a2e:370:7334'],
  ['mac', '00:1A:2B:3C:4D:5E'],
  ['mac', '001A.2B3C.4D5E'],
  ['email', 'ann@example.com'],
  ['crypto', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['crypto', '0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae'],
  ['secret', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['secret', 'AKIAIOSFODNN7QWERTYU'],
  ['us_mbi', '1EG4-TE5-MK73'],
  ['fr_nir', '1 84 12 76 451 089 46'],
  ['it_fiscal_code', 'RSSMRA85T10A562S'],
  ['fi_personal_identity_code', '131052-308T'],
  ['br_cpf', '529.982.247-25'],
]

/** Text beside such values, by its source. */
const frames: Readonly<Record<string, (value: string) => string>> = {
  alone: (v) => v,
  'a sentence': (v) => `It is ${v}, thanks.`,
  'the end of a sentence': (v) => `It is ${v}.`,
  'a question': (v) => `Is it ${v}?`,
  'a line': (v) => `Ann\n${v}\nRome`,
  'a line before a number': (v) => `${v}\n7`,
  'CSV between words': (v) => `Ann,${v},Rome`,
  'CSV behind a number': (v) => `7,${v}`,
  'CSV before a number': (v) => `${v},94110`,
  'CSV between numbers': (v) => `7,${v},8`,
  'CSV before a month': (v) => `Ann,${v},12/27`,
  'CSV before a date': (v) => `Ann,${v},2024-05-01`,
  'CSV behind a date': (v) => `2024-05-01,${v},Ann`,
  'CSV in quotes': (v) => `"Ann","${v}","94110"`,
  'CSV with semicolons': (v) => `7;${v};8`,
  'CSV with semicolons and blanks': (v) => `Ann; ${v}; 8`,
  TSV: (v) => `7\t${v}\t8`,
  pipes: (v) => `7|${v}|8`,
  'pipes with blanks': (v) => `| 7 | ${v} | 8 |`,
  itself: (v) => `${v} ${v}`,
  'itself on two lines': (v) => `${v}\n${v}`,
  'itself in a list': (v) => `${v}, ${v}`,
  'a number before it': (v) => `12 ${v}`,
  'a number and a bracket before it': (v) => `1) ${v}`,
  'a number behind it': (v) => `${v} 123`,
  'a month behind it': (v) => `${v} 12/27`,
  'a date behind it': (v) => `${v} 12/01/1980`,
  'a time before it': (v) => `2024-05-01T12:30:00Z ${v} ok`,
  'a level of a log': (v) => `[INFO] user=${v} done`,
  'a slash and a number behind it': (v) => `${v}/123`,
  'a hyphen and a number behind it': (v) => `${v}-2`,
  brackets: (v) => `Ann (${v})`,
  'square brackets': (v) => `[${v}]`,
  'angle brackets': (v) => `<td>${v}</td>`,
  'a JSON value': (v) => `{"x":"${v}"}`,
  'a query': (v) => `a=${v}&b=1`,
  'a number sign': (v) => `#${v}`,
  'a dollar sign': (v) => `$${v}`,
  'a colon': (v) => `Value: ${v}`,
  'a line break in JSON': (v) => `{"x":"a\\n${v}\\n"}`.replaceAll('\\n', '\n'),
}

describe('what stands right beside a value', () => {
  it('is tried in 40 ways with 25 values', () => {
    expect(Object.keys(frames)).toHaveLength(40)
    expect(values).toHaveLength(25)
  })

  it.for(Object.entries(frames))('hides none: %s', ([, frame]) => {
    const missed = values.filter(([kind, value]) => {
      const text = frame(value)
      const at = text.indexOf(value)
      const found = findPii(text, options)
      const isFound = (start: number): boolean =>
        found.some((one) => one.start <= start && start + value.length <= one.end)
      return (
        !isFound(at) || !isFound(text.lastIndexOf(value)) || !found.some((f) => f.kind === kind)
      )
    })

    expect(missed).toEqual([])
  })

  it.for([
    '1.4111111111111111',
    'v4.111.111',
    '2024-05-01 12:30',
    '1,234,567.89',
    '$4,156,667',
    'pages 4111-1116',
    '536-90-43991',
    '12345-536-90-4399',
  ])('that makes it something else is seen: %s', (text) => {
    expect(findPii(text)).toEqual([])
  })
})
