import { digitsOf, hasLuhn } from './checksums.ts'
import { patternRecognizer } from './recognizer.ts'
import type { Recognizer } from './recognizer.ts'

/** Lengths and first digits of the schemes, with Mastercard's 2-series and JCB's 2131 and 1800. */
const schemes: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-59]|[689]\d)\d{11}(?:\d{2,5})?$/,
  /^(?:6011|6[45]\d\d)\d{12}(?:\d{3})?$/,
  /^35(?:2[89]|[3-8]\d)\d{12}(?:\d{3})?$/,
  /^(?:2131|1800)\d{11}$/,
  /^(?:62\d\d|81[0-7]\d)\d{12,15}$/,
  /^(?:5018|5019|5020|5038|5893|6304|67[5-7]\d|220[0-4])\d{8,15}$/,
  /^(?:60|65|82|508)\d{13,14}$/,
]

/** Payment cards of 12 to 19 digits, by scheme and Luhn's check. */
export const creditCard: Recognizer = patternRecognizer({
  kind: 'credit_card',
  pattern:
    /(?<![A-Za-z\u00c0-\u024f\u0370-\u052f\d_.,/+-]|\d )(?:\d{12,19}|\d{4}(?<dash>[ -])\d{4}(?:\k<dash>\d{4}){1,2}(?:\k<dash>\d{1,7})?|\d{4}(?<gap>[ -])\d{6}\k<gap>\d{4,5})(?![A-Za-z\u00c0-\u024f\u0370-\u052f\d_]|[.,]\d|[-/]\d| \d)/u,
  context:
    /\b(?:card|cards|credit|debit|visa|master ?card|amex|american express|discover|diners|jcb|maestro|union ?pay|cc|ccn|pan|cvv|karte|kreditkarte|carte|tarjeta|carta)\b/i,
  check: (match) => {
    const digits = digitsOf(match)
    if (!hasLuhn(digits) || /^(\d)\1*$/.test(digits)) return false
    if (!schemes.some((scheme) => scheme.test(digits))) return 0.3
    return digits.length < 14 ? 0.65 : 0.9
  },
})
