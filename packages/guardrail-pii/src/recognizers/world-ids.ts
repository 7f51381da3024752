import { digitsOf, hasLuhn, hasVerhoeff, isDate, weighted } from '../base/checksums.ts'
import { idPattern } from '../base/id-pattern.ts'
import { patternRecognizer } from '../base/recognizer.ts'
import type { PatternOptions, Recognizer } from '../base/recognizer.ts'

const kinds: readonly PatternOptions[] = [
  {
    kind: 'ca_sin',
    pattern: idPattern(String.raw`[1-79]\d{2}(?<mark>[ -]?)\d{3}\k<mark>\d{3}`),
    context: /\b(?:sin|social insurance|assurance sociale|nas)\b/i,
    check: (match) => hasLuhn(digitsOf(match)) && 0.45,
  },
  {
    kind: 'in_aadhaar',
    // Not part of a card.
    pattern: idPattern(
      String.raw`(?<!\d{4}[ -])[2-9]\d{3}(?<mark>[ -]?)\d{4}\k<mark>\d{4}(?![ -]\d{4})`,
    ),
    context: /\b(?:aadhaa?r|uidai|uid)\b/i,
    check: (match) => hasVerhoeff(digitsOf(match)) && (/\D/.test(match) ? 0.65 : 0.45),
  },
  {
    kind: 'in_pan',
    pattern: idPattern(String.raw`[A-Za-z]{3}[ABCFGHLJPTabcfghljpt][A-Za-z]\d{4}[A-Za-z]`),
    context: /\b(?:pan|permanent account|income tax)\b/i,
    score: 0.7,
  },
  {
    kind: 'br_cpf',
    pattern: idPattern(String.raw`\d{3}\.?\d{3}\.?\d{3}-?\d\d`),
    context: /\b(?:cpf|cadastro de pessoas)\b/i,
    check: (match) => {
      const digits = digitsOf(match)
      if (/^(\d)\1*$/.test(digits)) return false
      const check = (count: number): number => {
        const weights = Array.from({ length: count }, (_, at) => count + 1 - at)
        return ((weighted(digits, weights) * 10) % 11) % 10
      }
      const isRight = check(9) === Number(digits[9]) && check(10) === Number(digits[10])
      return isRight && (/\D/.test(match) ? 0.8 : 0.45)
    },
  },
  {
    kind: 'au_tfn',
    pattern: idPattern(String.raw`\d{3}(?<mark>[ -]?)\d{3}\k<mark>\d{3}`),
    context: /\b(?:tfn|tax file)\b/i,
    check: (match) =>
      weighted(digitsOf(match), [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0 &&
      !/^0+$/.test(match) &&
      0.35,
  },
  {
    kind: 'au_medicare',
    pattern: idPattern(String.raw`[2-6]\d{3}(?<mark>[ -]?)\d{5}\k<mark>\d`),
    context: /\b(?:medicare)\b/i,
    check: (match) =>
      weighted(digitsOf(match), [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(digitsOf(match)[8]) &&
      0.4,
  },
  {
    kind: 'kr_rrn',
    pattern: idPattern(String.raw`\d{6}-?[1-4]\d{6}`),
    context: /(?:\b(?:rrn|resident registration)\b|주민등록번호)/i,
    check: (match) => {
      const isBorn = isDate(match.slice(0, 2), match.slice(2, 4), match.slice(4, 6))
      return isBorn && (match.includes('-') ? 0.75 : 0.45)
    },
  },
  {
    kind: 'tr_national_id',
    pattern: idPattern(String.raw`[1-9]\d{10}`),
    context: /(?:\b(?:tckn|tc kimlik|kimlik)\b|t\.c\.)/i,
    check: (match) => {
      const digits = Array.from(match, Number)
      const sum = (from: number, to: number, step: number): number =>
        digits.slice(from, to).reduce((all, digit, at) => all + (at % step === 0 ? digit : 0), 0)
      const tenth = (((sum(0, 9, 2) * 7 - sum(1, 8, 2)) % 10) + 10) % 10
      return tenth === digits[9] && sum(0, 10, 1) % 10 === digits[10] && 0.6
    },
  },
  {
    kind: 'th_tnin',
    pattern: idPattern(String.raw`[1-8](?<mark>-?)\d{4}\k<mark>\d{5}\k<mark>\d\d\k<mark>\d`),
    context: /(?:\b(?:thai|tnin|national id)\b|บัตรประชาชน)/i,
    check: (match) => {
      const digits = digitsOf(match)
      const rest = weighted(digits, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11
      return (11 - rest) % 10 === Number(digits[12]) && (/-/.test(match) ? 0.8 : 0.45)
    },
  },
  {
    kind: 'za_id_number',
    pattern: idPattern(String.raw`\d{10}[01]\d\d`),
    context: /\b(?:south african?|identity number|rsa id|id number)\b/i,
    check: (match) =>
      isDate(match.slice(0, 2), match.slice(2, 4), match.slice(4, 6)) && hasLuhn(match) && 0.6,
  },
  {
    kind: 'sg_fin',
    pattern: idPattern(String.raw`[STFGMstfgm]\d{7}[A-Za-z]`),
    context: /\b(?:nric|fin|singapore)\b/i,
    check: (match) => {
      const [first, last] = [match[0]!.toUpperCase(), match.at(-1)!.toUpperCase()]
      const offset = { T: 4, G: 4, M: 3 }[first] ?? 0
      const rest = (weighted(match.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11
      if (first === 'M') return 'KLJNPQRTUWX'[10 - rest] === last && 0.8
      return ('ST'.includes(first) ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK')[rest] === last && 0.8
    },
  },
]

/** Recognize national ids of countries outside Europe and the US. */
export const worldIds: readonly Recognizer[] = kinds.map(patternRecognizer)
