import { getCountrySpecifications, isValidIBAN } from 'ibantools'
import { matchesOf } from '../base/matches-of.ts'
import type { Recognizer } from '../base/recognizer.ts'

const lengths = new Map(
  Object.entries(getCountrySpecifications()).map(([country, { chars }]) => [country, chars ?? 0]),
)
const pattern = /(?<![A-Za-z\u00c0-\u024f\u0370-\u052f\d])[A-Za-z]{2}\d{2}(?=[ -]?[A-Za-z\d])/gu
// The registry requires the four letters of a bank, but ibantools accepts digits as well.
const isMadeUp = /^(?:AZ|BH|GB|GI|IE|IQ|JO|KW|LC|LV|MT|NL|PK|PS|QA|RO|SC|VG)\d\d(?![A-Z]{4})/
const group = /[ -]?[A-Za-z\d]+/y

/** Recognizes bank accounts (ISO 13616) by country, length, form and the check of ISO 7064 MOD 97-10. */
export const iban: Recognizer = {
  kind: 'iban',
  *find(text, { validate }) {
    for (const { index, 0: head } of matchesOf(text, pattern)) {
      const length = lengths.get(head.slice(0, 2).toUpperCase())
      const end = length && endOf(text, index + head.length, length - head.length)
      if (!end) continue
      const written = text.slice(index, end).replace(/[ -]/g, '')
      const account = written.toUpperCase()
      if (written !== account && written !== account.toLowerCase()) continue
      if (!validate || (isValidIBAN(account) && !isMadeUp.test(account)))
        yield { start: index, end, score: 0.95 }
    }
  },
}

/** Returns the end of `count` letters and digits in groups, if no further one follows. */
function endOf(text: string, from: number, count: number): number | undefined {
  let at = from
  for (let left = count; left > 0; at = group.lastIndex) {
    group.lastIndex = at
    const part = group.exec(text)?.[0]
    if (part === undefined) return undefined
    left -= part.replace(/[ -]/, '').length
    if (left < 0) return undefined
  }
  return /[A-Za-z\u00c0-\u024f\u0370-\u052f\d_]/u.test(text.charAt(at)) ? undefined : at
}
