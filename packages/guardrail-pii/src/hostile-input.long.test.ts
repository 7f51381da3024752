import { describe, expect, it } from 'vitest'
import { tooFast } from '../../../tests/support/growth-of-exports.ts'
import { findPii } from './index.ts'

describe('hostile input', () => {
  const hostile: Record<string, string> = {
    letters: 'a',
    digits: '1',
    'spaced digits': '1 ',
    'pairs of digits': '11-',
    'at signs': '@',
    'letters and at signs': 'a@',
    addresses: 'a@b.',
    dots: 'a.',
    'hidden dots': 'a[dot]',
    colons: ':',
    'hex groups': 'ab:',
    'IPv6 without an end': '1::',
    percent: '%40',
    base64: 'YW5u',
    'web addresses': 'http://a',
    www: 'www.',
    passwords: 'password=',
    'passwords of nothing': 'password = ',
    bearers: 'bearer ',
    'private keys': '-----BEGIN PRIVATE KEY-----\n',
    pluses: '+',
    'phone numbers': '+1 415 555 0132 ',
    'almost phone numbers': '+4412345',
    'bank accounts': 'GB29 NWBK ',
    GB29: 'GB29',
    cards: '4111 1111 1111 1112 ',
    octets: '1.1.1.1.',
    tokens: 'eyJ',
    prefixes: 'sk-ghp_xoxb-',
    quotes: '"',
    backslashes: String.raw`\n`,
    spaces: ' ',
    lines: '\n',
    'zero-width': 'a\u200b',
    marks: 'a\u0301',
    'full width': 'ａ＠',
    Chinese: '电1',
  }

  it.for(Object.entries(hostile))('the work on %s is linear', async ([, unit]) => {
    expect(await tooFast((text) => findPii(text, { maxScanMs: 600_000 }), [unit])).toEqual([])
  })
})
