import { matchesOf } from '../base/matches-of.ts'
import type { Recognizer } from '../base/recognizer.ts'
import { separators } from '../base/separators.ts'
import { withoutEnd } from '../base/without-end.ts'

const rest = String.raw`[^"<>\\^\x60{|}${separators}\uff00-\uffef]`
const pattern = new RegExp(
  String.raw`(?<![A-Za-z\u00c0-\u024f\u0370-\u052f\d_@.-])(?:(?:https?|ftps?|wss?):\/\/(?<host>${rest}{2,2048})|www\.${rest}{3,2048}|(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.){1,4}(?:com|org|net|edu|gov|io|dev|app|info|co\.uk|de|fr|eu)(?![A-Za-z\u00c0-\u024f\u0370-\u052f\d_@.-])(?:\/${rest}{0,2048})?)`,
  'giu',
)

/** Recognizes web addresses. */
export const url: Recognizer = {
  kind: 'url',
  *find(text) {
    for (const { index, 0: match, groups } of matchesOf(text, pattern)) {
      const address = withoutPunctuation(match)
      const host = groups?.['host']
      if (host !== undefined && !/^\[|[.:]|^localhost/.test(host)) continue
      yield { start: index, end: index + address.length, score: host === undefined ? 0.65 : 0.97 }
    }
  },
}

/** Removes punctuation of the sentence. A closing bracket stays if the address opens it. */
function withoutPunctuation(match: string): string {
  const marks = `.,;:!?'"*_~`
  const address = withoutEnd(match, marks)
  return /[([]/.test(address) ? address : withoutEnd(address, `${marks})]`)
}
