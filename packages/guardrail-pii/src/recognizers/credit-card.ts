import { digitsOf, hasLuhn } from '../base/checksums.ts'
import { matchesOf } from '../base/matches-of.ts'
import type { Recognizer } from '../base/recognizer.ts'

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

const letters = String.raw`A-Za-z\u00c0-\u024f\u0370-\u052f`
// Not part of a word, a longer number or a fraction. A number of another column may be beside it.
const head = new RegExp(String.raw`(?<![${letters}\d.])\d(?=\d{3})`, 'gu')
const end = new RegExp(String.raw`(?![${letters}\d_]|\.\d)`, 'u')
// Printed forms of cards, longest first: the next digits may be its code or another card.
const forms = [
  String.raw`\d{4}([ -])\d{4}\1\d{4}\1\d{4}\1\d{1,7}`,
  String.raw`\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}`,
  String.raw`\d{4}([ -])\d{6}\1\d{4,5}`,
  String.raw`\d{4}([ -])\d{4}\1\d{4}`,
  String.raw`\d{12,19}`,
].map((form) => new RegExp(form + end.source, 'uy'))

/** Recognizes payment cards of 12 to 19 digits, by scheme and Luhn's check. */
export const creditCard: Recognizer = {
  kind: 'credit_card',
  context:
    /\b(?:card|cards|credit|debit|visa|master ?card|amex|american express|discover|diners|jcb|maestro|union ?pay|cc|ccn|pan|cvv|karte|kreditkarte|carte|tarjeta|carta)\b/i,
  *find(text, { validate }) {
    if (text.length < 12) return
    let done = 0
    for (const { index } of matchesOf(text, head)) {
      if (index < done) continue
      for (const form of forms) {
        form.lastIndex = index
        if (!form.test(text)) continue
        const score = validate ? scoreOf(text.slice(index, form.lastIndex)) : 0.8
        if (score === 0) continue
        done = form.lastIndex
        yield { start: index, end: done, score }
        break
      }
    }
  },
}

function scoreOf(written: string): number {
  if (!hasLuhn(written)) return 0
  const digits = digitsOf(written)
  if (/^(\d)\1*$/.test(digits)) return 0
  if (!schemes.some((scheme) => scheme.test(digits))) return 0.3
  return digits.length < 14 ? 0.65 : 0.9
}
