import { describe, expect, it } from 'vitest'
import { findPii, patternRecognizer } from '../index.ts'
import type { FindPiiOptions } from '../index.ts'

/** Returns finds as `kind: text`. */
function found(text: string, options?: FindPiiOptions): string[] {
  return findPii(text, options).map(({ kind, start, end }) => `${kind}: ${text.slice(start, end)}`)
}

describe('what is found', () => {
  it.for([
    ['Write to ann.smith+news@mail.example.co.uk.', 'email: ann.smith+news@mail.example.co.uk'],
    ['<jürgen@müller.example>', 'email: jürgen@müller.example'],
    ['?a=1&email=ann@example.com&b', 'email: ann@example.com'],
    ['ann@example.com--thanks', 'email: ann@example.com'],
    ['ann@example.com.2', 'email: ann@example.com'],
    ['mailto:ann@example.com', 'email: ann@example.com'],
    ['list+ann=example.com@post.example', 'email: list+ann=example.com@post.example'],
    ['ann[at]example[dot]com', 'email: ann[at]example[dot]com'],
    ['a\u200bnn@exam\u200bple.com', 'email: a\u200bnn@exam\u200bple.com'],
    ['ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'email: ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ'],
    [String.raw`{"a":"x\nann@example.com"}`, 'email: ann@example.com'],
    ['Call (415) 555-0132 x12 now', 'phone: (415) 555-0132 x12'],
    ['my number: 1-555-123-1234.', 'phone: 1-555-123-1234'],
    ['415-555-0132 650-555-0199', 'phone: 415-555-0132', 'phone: 650-555-0199'],
    ['tel:+1-415-555-0132', 'phone: +1-415-555-0132'],
    ['?phone=+14155550132&a', 'phone: +14155550132'],
    ['Fax: +46 (0)157 548 89', 'phone: +46 (0)157 548 89'],
    ['+55 11 98456 5666', 'phone: +55 11 98456 5666'],
    ['+442079460958', 'phone: +442079460958'],
    ['You can call 73 448 266', 'phone: 73 448 266'],
    ['0878 1234 1234', 'phone: 0878 1234 1234'],
    ['电话13812345678', 'phone: 13812345678'],
    ['5555 5555 5555 4444', 'credit_card: 5555 5555 5555 4444'],
    ['card=5105105105105100;', 'credit_card: 5105105105105100'],
    ['2223003122003222', 'credit_card: 2223003122003222'],
    ['4000000000000000006', 'credit_card: 4000000000000000006'],
    ['3782-822463-10005', 'credit_card: 3782-822463-10005'],
    ['My card is 122000000000003', 'credit_card: 122000000000003'],
    ['GB29 NWBK 6016 1331 9268 19 please', 'iban: GB29 NWBK 6016 1331 9268 19'],
    ['de89370400440532013000', 'iban: de89370400440532013000'],
    ['AL47-2121-1009-0000-0002-3569-8741', 'iban: AL47-2121-1009-0000-0002-3569-8741'],
    ['123-45-6789', 'ssn: 123-45-6789'],
    ['my ssn: 123.45.6789.', 'ssn: 123.45.6789'],
    ['078 05 1123', 'ssn: 078 05 1123'],
    ['702029921 (SSN)', 'ssn: 702029921'],
    ['from 36.160.14.148 today', 'ip: 36.160.14.148'],
    ['IP 10.1.2.3.443 > 10.9.8.7.51234: S', 'ip: 10.1.2.3', 'ip: 10.9.8.7'],
    ['[2001:db8::1]:8080', 'ip: 2001:db8::1'],
    ['fe80::7:8%eth0', 'ip: fe80::7:8%eth0'],
    ['::ffff:10.0.0.1', 'ip: ::ffff:10.0.0.1'],
    ['00:1A:2B:3C:4D:5E', 'mac: 00:1A:2B:3C:4D:5E'],
    ['0102.0304.05ab', 'mac: 0102.0304.05ab'],
    ['Routing number 021000021', 'aba_routing: 021000021'],
    [
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'crypto: bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    ],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'crypto: 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['ITIN 912-70-1234', 'us_itin: 912-70-1234'],
  ])('%s', ([text, ...expected]) => {
    expect(found(text!)).toEqual(expected)
  })

  it.for([
    ['uk_nino', 'AB 12 34 56 C'],
    ['uk_nhs', 'NHS 943 476 5919', '943 476 5919'],
    ['de_tax_id', 'Steuer-ID 86095742719', '86095742719'],
    ['es_nif', '12345678Z'],
    ['es_nie', 'X1234567L'],
    ['it_fiscal_code', 'RSSMRA85T10A562S'],
    ['pl_pesel', 'PESEL 44051401359', '44051401359'],
    ['fi_personal_identity_code', '131052-308T'],
    ['se_personnummer', '811218-9876'],
    ['fr_nir', '2 55 08 14 168 025 38'],
    ['nl_bsn', 'BSN 111222333', '111222333'],
    ['be_national_number', '85.07.30-033.28'],
    ['ca_sin', 'SIN 130-692-544', '130-692-544'],
    ['in_aadhaar', '2341 2341 2346'],
    ['in_pan', 'ABCPE1234F'],
    ['br_cpf', '529.982.247-25'],
    ['au_tfn', 'TFN 876 543 210', '876 543 210'],
    ['au_medicare', 'Medicare 2123 45670 1', '2123 45670 1'],
    ['kr_rrn', '960121-1021413'],
    ['tr_national_id', '10000000146'],
    ['th_tnin', '1-1037-02071-81-1'],
    ['za_id_number', '8001015009087'],
    ['sg_fin', 'S1234567D'],
  ])('a %s, only when it is asked for', ([kind, text, value = text]) => {
    expect(found(text!, { entities: [kind!] })).toEqual([`${kind}: ${value}`])
    expect(found(text!).filter((one) => one.startsWith(kind!))).toEqual([])
  })

  it.for([
    ['See https://x.example/a(b)?q=1.', 'https://x.example/a(b)?q=1'],
    ['at www.example.com, and', 'www.example.com'],
    ['请看https://x.example/a谢谢', 'https://x.example/a'],
  ])('the address in: %s', ([text, expected]) => {
    expect(found(text!, { entities: ['url'] })).toEqual([`url: ${expected}`])
  })
})

it.each(['ann.lee@example.com.png', 'notes of ann.lee@example.com.pdf'])(
  'the address in the name of a file: %s',
  (text) => {
    expect(found(text)).toEqual(['email: ann.lee@example.com'])
  },
)

describe('what is left alone', () => {
  it.for([
    'icon@2x.png, icon@2x.dark.png, app@2.1.min.js, app@latest.min.js, user@domain and @handle',
    'Version 1.2.3.4 and release 10.0.19041.1',
    'OID 1.3.6.1.4.1.311',
    '1.3.6.1.4',
    '2.16.840.1.113883',
    '00000000-0000-0000-0000-000000000000',
    '550e8400-e29b-41d4-a716-446655440000',
    'd41d8cd98f00b204e9800998ecf8427e',
    '2024-01-15T16:23:55.228Z and 10/12/1982',
    'Order 123456789 of 12345678',
    '37.7749, -122.4194',
    '-122.41941550',
    '$10,123.454 and 1 000 000',
    'std::vector<Face::bad> x :: Int',
    '12:30:45',
    'localhost:8080 at 12:30:45 1234567',
    'ISBN 978-3-16-148410-0',
    'DE89370400440532013001',
    '4111111111111112',
    '666-45-6789 000-12-3456 123-00-4567',
    'the basic understanding of tokens, a secret garden and passwords',
    'password: <your password>, token = ${TOKEN}, api_key: process.env.KEY',
    'publicKey, keyboard = "qwerty", token_count = 12345',
    'Scunthorpe 1999-2004, chapters 3.2.1 and 3.2.2',
  ])('%s', (text) => {
    expect(found(text)).toEqual([])
  })
})

describe('options', () => {
  const text = 'ann@example.com, 5555555555554444, 0523803765'

  it('regions make national numbers certain', () => {
    expect(found('0523803765')).toEqual([])
    expect(found('0523803765', { regions: ['VN'] })).toEqual(['phone: 0523803765'])
  })

  it('a threshold may be of a kind or a group', () => {
    expect(found(text, { threshold: { contact: 0.99 } })).toEqual(['credit_card: 5555555555554444'])
    expect(found(text, { threshold: { contact: 0.99, email: 0.5 } })).toHaveLength(2)
  })

  it('allowed values pass, in any case, and denied ones never', () => {
    const options = { allow: ['ANN@example.com', /5555\d+/], deny: ['Project Falcon'] }

    expect(found(`${text} for project falcon`, options)).toEqual(['denied: project falcon'])
  })

  it('denied values may have any characters', () => {
    const names = ['Anne-Marie', '--output=x', String.raw`a\b^c$d.e*f+g?h(i)j[k]l{m}n|o/p`, 'ß☃']

    for (const name of names) {
      expect(found(`It is ${name} here`, { deny: [name] })).toEqual([`denied: ${name}`])
    }
  })

  it('looks into what is encoded, also twice', () => {
    const once = btoa('mail ann@example.com')
    const twice = btoa(`x=${once}`)
    const options: FindPiiOptions = { decode: ['base64', 'url', 'hex'] }

    expect(found(`a ${once} b`, options)).toEqual([`email: ${once}`])
    expect(found(`a ${twice} b`, options)).toEqual([`email: ${twice}`])
    expect(found(`a ${twice} b`, { ...options, maxDepth: 1 })).toEqual([])
    expect(found('%61nn%40example.com', options)).toEqual(['email: %61nn%40example.com'])
    expect(found('0x616e6e406578616d706c652e636f6d', options)).toHaveLength(1)
  })

  it('a pattern without the flag g, with y or with a look-behind finds all, each time', () => {
    for (const pattern of [/EMP\d{4}/, /EMP\d{4}/y, /EMP\d{4}/g, /(?<=id )EMP\d{4}|EMP\d{4}/]) {
      const entities = [{ kind: 'employee', find: () => [] }, recognizer(pattern)]
      for (let time = 0; time < 3; time++) {
        expect(found('EMP1234 and id EMP5678', { entities })).toHaveLength(2)
      }
    }
  })

  it('a pattern that matches nothing does not hang', () => {
    expect(found('abc', { entities: [recognizer(/x*/)] })).toEqual([])
  })

  it('words nearby may be left out of account', () => {
    expect(found('My card is 122000000000003', { context: false })).toEqual([])
  })

  it('without checksums the form is enough', () => {
    expect(found('4111111111111112', { validators: false })).toEqual([
      'credit_card: 4111111111111112',
    ])
  })

  it('a scan that takes too long is a failure', () => {
    let now = 0
    const clock = { now: () => (now += 3000) }

    expect(() => found('12', { clock })).toThrow('took longer than 5000 ms')
  })

  it.for<[FindPiiOptions, string]>([
    [{ entities: ['emial'] }, '`entities`'],
    [{ threshold: 2 }, '`threshold` must be from 0 to 1, got 2'],
    [{ regions: ['uk'] }, '`regions`'],
    [{ decode: ['rot13' as 'hex'] }, '`decode`'],
    [{ deny: [''] }, '`deny`'],
    [{ deny: 'Bob' as never }, '`deny` must be a list, got "Bob"'],
    [{ allow: 'Bob' as never }, '`allow` must be a list'],
    [{ entities: 'email' as never }, '`entities` must be a list'],
    [{ maxScanMs: 0 }, '`maxScanMs`'],
  ])('wrong ones are named: %o', ([options, message]) => {
    expect(() => findPii('', options)).toThrow(message)
  })
})

function recognizer(pattern: RegExp) {
  return patternRecognizer({ kind: 'employee', pattern })
}

it.each([
  '€ 4155550132',
  '4155550132 €',
  '4155550132 dollars',
  'SGD 4155550132',
  '4155550132円',
  'EUR 1.234.567',
  '$12 345 678',
  '12.345.678,90 zł',
  '₹ 98765432',
  '¥12345678',
  'CHF 1 234 567',
])('an amount of money is no phone number: %s', (text) => {
  expect(findPii(`The contract is worth ${text} in all.`, { entities: ['phone'] })).toEqual([])
})

it('a phone number beside an amount is one', () => {
  const text = 'Pay € 50, or call +1 415 555 0132.'

  const phones = findPii(text, { entities: ['phone'] })

  expect(phones.map(({ start, end }) => text.slice(start, end))).toEqual(['+1 415 555 0132'])
})

it.each(['00:00:00:00:00:00', '00:1A:2B:3C:4D:5G', '00-1A:2B-3C:4D-5E'])(
  '%s is the address of no device',
  (text) => {
    expect(findPii(`The MAC is ${text}.`, { entities: ['mac'] })).toEqual([])
  },
)
