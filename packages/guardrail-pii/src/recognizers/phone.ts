import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max'
import { matchesOf } from '../base/matches-of.ts'
import type { Candidate, FindOptions, Recognizer } from '../base/recognizer.ts'

const chain = /\d(?:[ .\-/()\u2010-\u2013]{0,3}\d)+/g
const extension = / ?(?:x|ext\.?|extension) ?\d{1,6}(?!\d)/y
const opening = /\+ ?$/
const wordBefore = /(?:[A-Za-z\u00c0-\u024f\u0370-\u052f@%/.]|\d[:+-])$/
// A number behind these is an amount, a count or a part of one.
const amountBefore = /(?:[#_]|\p{Sc}|\d,)$/u
const currency =
  'EUR|USD|GBP|CHF|JPY|CNY|INR|PLN|SEK|NOK|DKK|CZK|HUF|RON|BRL|KRW|TRY|AUD|CAD|SGD|HKD|NZD|MXN|ZAR|ILS|AED|THB|IDR|RUB|UAH|BTC|ETH'
const moneyWords =
  'zł|kr|Kč|Ft|dollars?|euros?|pounds?|francs?|yen|yuan|rupees?|rubles?|pesos?|reais|Dollar|Euro|Franken|руб'
const moneyBefore = new RegExp(`(?:\\p{Sc}|\\b(?:${currency})|\\bRs\\.?)[ \\u00a0]?$`, 'u')
const moneyAfter = new RegExp(
  `^(?:,\\d\\d?)?[ \\u00a0]?(?:\\p{Sc}|[円元원]|(?:${currency}|${moneyWords})(?![\\p{L}\\d]))`,
  'u',
)
// Digits in one piece, or in groups of three.
const moneyForm = /^(?:\d+|\d{1,3}(?:[ .]\d{3})+)(?:\.\d\d?)?$/
const wordAfter = /^(?:[A-Za-z\u00c0-\u024f\u0370-\u052f_%]|[.:+-]\d)/
const amountAfter = /^[,/]\d/
const nanp =
  /^(?:(?:\+|00|001[ .-]?)?1?[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .\-/])[2-9]\d\d[ .-]\d{4}(?: ?(?:x|ext\.?|extension) ?\d{1,6})?$/
// Invented and foreign numbers in the form of North America.
const northAmericanForm =
  /^(?:(?:\+?1|001)[ .-])?\(?\d{3}\)?[ .\-/]?\d{3}[ .-]\d{4}(?: ?(?:x|ext\.?|extension) ?\d{1,6})?$/
// A trunk zero and an area code in front, as in most of the world.
const trunkForm =
  /^(?:\(0\d{1,4}\)|0\d{2,4})[ -]\d{3,4}(?:[ -]?\d{2,4}){1,2}$|^0[1-9](?:[ .]\d\d){4}$/
const isDateOrDecimal =
  /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[ T].*)?$|^\d{1,3}\.\d+(?:[ ,-]|$)|^\d{4}[ -]?[-\u2013][ -]?\d{4}$|^\d{3}-\d\d-\d{4}$/

/** Maximum number of groups of one phone number. */
const maxGroups = 8
const minDigits = 7
const maxDigits = 17

/** Recognizes phone numbers: international ones, those of North America, and those of `regions`. */
export const phone: Recognizer = {
  kind: 'phone',
  context:
    /(?:\b(?:phone|telephone|tel|mobile|mob|cell|cellphone|call|calls|called|calling|fax|office|desk|home|work|contact|whats ?app|sms|text me|dial|ring|reach|landline|hotline|extension|answering|voicemail|messages?|telefon|telefono|teléfono|téléphone|handy|móvil|celular|numéro|portable|rufnummer|anrufen|telefoon)\b|电话|電話|手机|тел)/iu,
  *find(text, options) {
    const known = new Map<string, number>()
    for (const match of matchesOf(text, chain)) {
      if (match[0].length >= minDigits) yield* numbersIn(match, options, known)
    }
  },
}

/** Finds the numbers in groups of digits that may be several numbers. */
function* numbersIn(
  { 0: match, index, input: text }: RegExpExecArray,
  options: FindOptions,
  known: Map<string, number>,
): Generator<Candidate> {
  if (isMoney(text, index, index + match.length)) return
  const groups = groupsIn(text, index, index + match.length)
  const head = opening.exec(text.slice(Math.max(0, index - 3), index))
  groups[0]!.start = Math.min(groups[0]!.start, index - (head?.[0].length ?? 0))
  extension.lastIndex = index + match.length
  const tail = extension.exec(text)?.[0] ?? ''
  groups.at(-1)!.end += tail.length
  const after = text.slice(groups.at(-1)!.end, groups.at(-1)!.end + 2)
  if (wordAfter.test(after)) groups.pop()
  const before = text.slice(Math.max(0, (groups[0]?.start ?? 0) - 2), groups[0]?.start)
  const isAmount = amountBefore.test(before) || amountAfter.test(after)

  let weak: Candidate | undefined
  for (let first = wordBefore.test(before) ? 1 : 0; first < groups.length; first++) {
    const { start } = groups[first]!
    if (weak !== undefined && weak.end <= start) {
      yield weak
      weak = undefined
    }
    let digits = 0
    let best: { last: number; score: number } | undefined
    for (let last = first; last < Math.min(groups.length, first + maxGroups); last++) {
      digits += groups[last]!.digits
      if (digits > maxDigits) break
      if (digits < minDigits) continue
      if (
        isAmount &&
        text[start] !== '+' &&
        last === first &&
        (first === 0 || last === groups.length - 1)
      )
        continue
      const number = text.slice(start, groups[last]!.end)
      const score = known.get(number) ?? scoreOf(number, options)
      known.set(number, score)
      if (score > 0 && score >= (best?.score ?? 0)) best = { last, score }
    }
    if (best === undefined) continue
    const candidate = { start, end: groups[best.last]!.end, score: best.score }
    if (best.score < strong) {
      // A number may begin behind a group that is not part of it, as in `12 415-666-7777`.
      weak ??= candidate
      continue
    }
    if (weak !== undefined && weak.end <= start) yield weak
    weak = undefined
    yield candidate
    first = best.last
  }
  if (weak !== undefined) yield weak
}

/** Returns true for an amount beside a sign or a code of a currency. */
function isMoney(text: string, start: number, end: number): boolean {
  if (!moneyForm.test(text.slice(start, end))) return false
  const [before, after] = [text.slice(Math.max(0, start - 5), start), text.slice(end, end + 9)]
  return moneyBefore.test(before) || moneyAfter.test(after)
}

/** Score of a form that other numbers do not have. */
const strong = 0.6

interface DigitGroup {
  start: number
  end: number
  readonly digits: number
}

/** Finds the groups of digits in a range. Brackets belong to a group, as in `(415) 666-7777`. */
function groupsIn(text: string, from: number, to: number): DigitGroup[] {
  const groups: DigitGroup[] = []
  for (let at = from; at < to; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const start = at
    while (at + 1 < to && isDigit(text.charCodeAt(at + 1))) at++
    const isAreaCode = text[start - 1] === '(' && text[at + 1] === ')'
    groups.push({ start: start - (isAreaCode ? 1 : 0), end: at + 1, digits: at + 1 - start })
  }
  return groups
}

const isDigit = (code: number): boolean => code > 47 && code < 58

function scoreOf(number: string, { regions, validate }: FindOptions): number {
  const [main = ''] = number.split(/[ex]/, 1)
  const digits = main.replace(/\D/g, '')
  if (/^(\d)\1*$/.test(digits)) return 0
  if (isDateOrDecimal.test(number)) return 0
  if (/^\(?\+/.test(number)) {
    const parsed = parse(number)
    if (parsed?.isValid()) return 0.95
    return digits.length <= 15 && (parsed?.isPossible() || !validate) ? 0.7 : 0.3
  }
  if (nanp.test(number)) return 0.8
  const isBare = /^\d+$/.test(number)
  for (const region of regions) {
    const parsed = isSupportedCountry(region) ? parse(number, region) : undefined
    if (parsed?.isValid()) return isBare ? 0.65 : 0.75
  }
  if (/^00[1-9]\d{8,}$/.test(digits) && parse(`+${digits.slice(2)}`)?.isValid()) return 0.7
  if (trunkForm.test(number) && digits.length > 8 && digits.length < 13) return 0.6
  if (northAmericanForm.test(number) && !isBare) return /^(?:1|001)[ .-]/.test(number) ? 0.65 : 0.45
  return isBare ? 0.25 : 0.3
}

function parse(number: string, region?: string): PhoneNumber | undefined {
  return parsePhoneNumberFromString(number, {
    ...(region !== undefined && { defaultCountry: region as CountryCode }),
    extract: false,
  })
}
