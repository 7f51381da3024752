import { digitsOf, hasLuhn, hasMod11And10, isDate, weighted } from '../base/checksums.ts'
import { idPattern } from '../base/id-pattern.ts'
import { patternRecognizer } from '../base/recognizer.ts'
import type { PatternOptions, Recognizer } from '../base/recognizer.ts'

const spanishLetter = (number: string): string => 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23]!

const kinds: readonly PatternOptions[] = [
  {
    // NHS number of the United Kingdom, mod 11.
    kind: 'uk_nhs',
    pattern: idPattern(String.raw`\d{3}(?<mark>[ -]?)\d{3}\k<mark>\d{4}`),
    context: /\b(?:nhs|national health|patient)\b/i,
    check: (match) => {
      const digits = digitsOf(match)
      const rest = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)
      return rest % 11 === Number(digits[9]) && 0.4
    },
  },
  {
    // National Insurance number, by the prefixes that HMRC issues.
    kind: 'uk_nino',
    pattern: idPattern(
      String.raw`(?!BG|GB|NK|KN|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?<mark> ?)\d\d\k<mark>\d\d\k<mark>\d\d\k<mark>[A-D]`,
    ),
    score: 0.75,
  },
  {
    kind: 'de_tax_id',
    pattern: idPattern(String.raw`[1-9]\d(?<mark>[ /]?)\d{3}\k<mark>\d{3}\k<mark>\d{3}`),
    context: /\b(?:steuer[-\w]{0,40}|idnr|identifikationsnummer|tax|tin)\b/i,
    check: (match) => hasMod11And10(digitsOf(match)) && 0.4,
  },
  {
    kind: 'es_nif',
    pattern: idPattern(String.raw`\d{8}-?[A-Za-z]`),
    check: (match) => spanishLetter(match.slice(0, 8)) === match.at(-1)!.toUpperCase() && 0.75,
  },
  {
    kind: 'es_nie',
    pattern: idPattern(String.raw`[XYZxyz]-?\d{7}-?[A-Za-z]`),
    check: (match) => {
      const number = 'XYZ'.indexOf(match[0]!.toUpperCase()) + digitsOf(match)
      return spanishLetter(number) === match.at(-1)!.toUpperCase() && 0.8
    },
  },
  {
    kind: 'it_fiscal_code',
    pattern: idPattern(
      String.raw`[A-Za-z]{6}[\dLMNP-V]{2}[A-EHLMPRSTa-ehlmprst][\dLMNP-V]{2}[A-Za-z][\dLMNP-V]{3}[A-Za-z]`,
    ),
    check: (match) => italianCheck(match.toUpperCase()) && 0.9,
  },
  {
    kind: 'pl_pesel',
    pattern: idPattern(String.raw`\d{11}`),
    context: /\b(?:pesel)\b/i,
    check: (match) =>
      isDate(match.slice(0, 2), String(Number(match.slice(2, 4)) % 20), match.slice(4, 6)) &&
      (10 - (weighted(match, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === Number(match[10]) &&
      0.45,
  },
  {
    kind: 'fi_personal_identity_code',
    pattern: idPattern(String.raw`\d{6}[-+A-FU-Ya-fu-y]\d{3}[\dA-FHJ-NPR-Ya-fhj-npr-y]`),
    check: (match) =>
      isDate(match.slice(4, 6), match.slice(2, 4), match.slice(0, 2)) &&
      '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(match.slice(0, 6) + match.slice(7, 10)) % 31] ===
        match[10]!.toUpperCase() &&
      0.85,
  },
  {
    kind: 'se_personnummer',
    pattern: idPattern(String.raw`(?:19|20)?\d{6}[-+]?\d{4}`),
    context: /\b(?:personnummer|personal(?: identity)? number|samordningsnummer)\b/i,
    check: (match) => {
      const digits = digitsOf(match).slice(-10)
      const day = Number(digits.slice(4, 6))
      const isBorn = isDate(
        digits.slice(0, 2),
        digits.slice(2, 4),
        String(day > 60 ? day - 60 : day),
      )
      return isBorn && hasLuhn(digits) && (/[-+]/.test(match) ? 0.75 : 0.4)
    },
  },
  {
    // INSEE number of France.
    kind: 'fr_nir',
    pattern: idPattern(
      String.raw`[12](?<mark> ?)\d\d\k<mark>(?:0[1-9]|1[0-2])\k<mark>(?:\d\d|2[AB])\k<mark>\d{3}\k<mark>\d{3}\k<mark>\d\d`,
    ),
    check: (match) => {
      const digits = match.replace(/ /g, '').replace('2A', '19').replace('2B', '18')
      return 97n - (BigInt(digits.slice(0, 13)) % 97n) === BigInt(digits.slice(13)) && 0.85
    },
  },
  {
    kind: 'nl_bsn',
    pattern: idPattern(String.raw`\d{9}`),
    context: /\b(?:bsn|burgerservicenummer|sofinummer)\b/i,
    check: (match) =>
      weighted(match, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && !/^0+$/.test(match) && 0.35,
  },
  {
    kind: 'be_national_number',
    pattern: idPattern(String.raw`\d\d\.?\d\d\.?\d\d-?\d{3}\.?\d\d`),
    context: /\b(?:rijksregister\w{0,20}|registre national|national number|insz|niss)\b/i,
    check: (match) => {
      const digits = digitsOf(match)
      const [number, check] = [digits.slice(0, 9), Number(digits.slice(9))]
      const isRight = [number, `2${number}`].some((born) => 97 - (Number(born) % 97) === check)
      return isRight && (/[.-]/.test(match) ? 0.7 : 0.4)
    },
  },
]

/** Recognize national ids of Europe with a check digit or a narrow form. */
export const euIds: readonly Recognizer[] = kinds.map(patternRecognizer)

const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
]

function italianCheck(code: string): boolean {
  let sum = 0
  for (let at = 0; at < 15; at++) {
    const value = /\d/.test(code[at]!) ? Number(code[at]) : code.charCodeAt(at) - 65
    sum += at % 2 === 0 ? oddValues[value]! : value
  }
  return String.fromCharCode(65 + (sum % 26)) === code[15]
}
