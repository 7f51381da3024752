import { digitsOf, hasLuhn, weighted } from '../base/checksums.ts'
import { idPattern } from '../base/id-pattern.ts'
import { patternRecognizer } from '../base/recognizer.ts'
import type { Recognizer } from '../base/recognizer.ts'

const area = String.raw`(?!000|666|9\d\d)\d{3}`

/** Recognizes US Social Security numbers, by the rules of the SSA for area, group and serial. */
export const ssn: Recognizer = patternRecognizer({
  kind: 'ssn',
  pattern: new RegExp(
    String.raw`(?<![A-Za-z\u00c0-\u024f\u0370-\u052f\d.]|\d-)(?:${area}(?<mark>[-. ])(?!00)\d\d\k<mark>(?!0000)\d{4}|${area}(?!00)\d\d(?!0000)\d{4}|${area}-(?!00)\d\d(?!0000)\d{4}|${area}(?!00)\d\d-(?!0000)\d{4})(?![A-Za-z\u00c0-\u024f\u0370-\u052f\d_]|\.\d|-\d\d)`,
    'u',
  ),
  context:
    /\b(?:ssn|ssns|ssid|social(?: security)?|tax ?id|tin|taxpayer|itin|social insurance)\b|\bss ?#/i,
  check: (match) => {
    if (/^\d{3}-\d\d-\d{4}$/.test(match)) return 0.85
    if (/^\d{3} \d\d \d{4}$/.test(match)) return 0.65
    return 0.35
  },
})

/** Recognizes US Individual Taxpayer Identification Numbers. */
const itin = patternRecognizer({
  kind: 'us_itin',
  pattern: idPattern(
    String.raw`9\d\d(?<mark>[- ]?)(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\k<mark>\d{4}`,
  ),
  context: /\b(?:itin|tax ?id|tin|taxpayer|individual taxpayer)\b/i,
  check: (match) => (/^\d{3}-/.test(match) ? 0.7 : 0.3),
})

/** Recognizes National Provider Identifiers of US health care. */
const npi = patternRecognizer({
  kind: 'us_npi',
  pattern: idPattern(String.raw`[12]\d{9}`),
  context: /\b(?:npi|provider)\b/i,
  check: (match) => hasLuhn(`80840${match}`) && 0.35,
})

/** Recognizes Medicare Beneficiary Identifiers. */
const mbi = patternRecognizer({
  kind: 'us_mbi',
  pattern: idPattern(
    String.raw`[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d(?<mark>-?)[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d\k<mark>[AC-HJKMNP-RT-Y]{2}\d\d`,
  ),
  score: 0.7,
})

/** Recognizes routing numbers of US banks. */
export const abaRouting: Recognizer = patternRecognizer({
  kind: 'aba_routing',
  pattern: idPattern(String.raw`[0-3678]\d{3}(?<mark>-?)\d{4}\k<mark>\d`),
  context: /\b(?:aba|routing|rtn|bank|transit|wire)\b/i,
  check: (match) =>
    weighted(digitsOf(match), [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0 &&
    !/^0+$/.test(match) &&
    0.35,
})

export const usIds: readonly Recognizer[] = [ssn, itin, npi, mbi]
