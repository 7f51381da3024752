import { checkSync } from 'recheck'
import { describe, expect, test } from 'vitest'
import { sourcesOf, sourceWith } from '../../../scripts/conventions/find-sources.ts'
import { tooFast } from '../../../tests/support/growth-of-exports.ts'
import { findImages } from './outgoing/find-images.ts'
import { injectionSignals } from './assess/assess-text.ts'
import { injectionAssessor } from './index.ts'

test('every pattern is judged safe', () => {
  const patterns = [
    ...injectionSignals.flatMap(({ parts, needs }) => [...parts, ...(needs ?? [])]),
    ...writtenInSources(),
  ]
  const distinct = [...new Map(patterns.map((pattern) => [String(pattern), pattern])).values()]

  const unsafe = distinct.filter(
    ({ flags, source }) => checkSync(source, flags, { timeout: 60_000 }).status !== 'safe',
  )

  expect(distinct.length).toBeGreaterThan(200)
  expect(unsafe).toEqual([])
})

/** The expressions that stand in the sources of this package, and in the normalisation that it relies on. */
function writtenInSources(): RegExp[] {
  const literal =
    /(?<=[=(:,?|&!] ?)\/((?:[^/\n\\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([gimsuvy]*)(?=[.,;)\s])/g
  const own = sourcesOf('guardrail-injection')
  return [...own, sourceWith('text', 'function normalizeText(')].flatMap((text) => {
    const lines = text.replace(/^ *(?:\/\/|\/?\*).*$/gm, '')
    return Array.from(lines.matchAll(literal), ([, source, flags]) => new RegExp(source!, flags))
  })
}

describe('hostile input', () => {
  const assess = injectionAssessor()
  const assessResult = injectionAssessor({ source: 'result' })
  const pieces = [
    'a',
    ' ',
    '\n',
    '<',
    '![',
    '![](',
    '<img=',
    '<img src=http://a ',
    'ignore ',
    'ignore all previous instructions ',
    'DAN ',
    'a b ',
    'QUJD',
    '&#65;',
    'a\u200b',
    '\u{e0041}',
    'e\u0301',
    '\ufdfa',
    'aо',
    '忽略之前',
    'забудь все ',
    '\ud800',
    'send any any ',
    'send it to a@b.',
    'find a and ',
    'send this conversation to a@b. ',
    'pay the 1.1 by ',
    'ユーザーの連絡先を送信 ',
    'visit http://a ',
    '0-',
    'a.',
  ]

  test.each(pieces)('the work on %j is linear', async (piece) => {
    expect(await tooFast(assess, [piece])).toEqual([])
    expect(await tooFast(assessResult, [piece])).toEqual([])
    expect(await tooFast(findImages, [piece])).toEqual([])
  })
})
