import { matchesOf } from '../base/matches-of.ts'
import type { Recognizer } from '../base/recognizer.ts'
import { withoutEnd } from '../base/without-end.ts'

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
const ipv4Form = String.raw`${octet}(?:\.${octet}){3}`
const ipv4 = new RegExp(
  String.raw`(?<![A-Za-z\d.-]|\d:)${ipv4Form}(?:/(?:3[0-2]|[12]?\d)(?!\d))?(?!\w|-[A-Za-z])`,
  'gu',
)
const ipv4Only = new RegExp(`^${ipv4Form}$`)
const ipv6 =
  /(?<![\w:.])(?=[\da-fA-F.]{0,39}:[\da-fA-F.]{0,39}:)[\da-fA-F:][\da-fA-F:.]{1,64}(?:%[\w.~-]{1,64})?(?:\/\d{1,3})?/g
const isVersion = /(?:\bv|\bver\.?|\bversion|\brelease|\bbuild|\bfirmware|\bOID)[\s:=#]{0,3}$/i

/** Recognizes IPv4 and IPv6 addresses, with zone, prefix length or an IPv4 address inside. */
export const ipAddress: Recognizer = {
  kind: 'ip',
  context: /\b(?:ip|ips|ipv[46]|address|addr|host|server|subnet|gateway|dns|localhost)\b/i,
  *find(text) {
    for (const { index, 0: match } of matchesOf(text, ipv4)) {
      const end = index + match.length
      const isName = isVersion.test(text.slice(Math.max(0, index - 16), index))
      if (isName || !endsThere(match, text.slice(end, end + 9))) continue
      yield { start: index, end, score: 0.75 }
    }
    if (!text.includes(':')) return
    for (const { index, 0: match } of matchesOf(text, ipv6)) {
      const address = addressIn(match)
      const score = ipv6Score(address, text[index + match.length] ?? ' ')
      if (score > 0) yield { start: index, end: index + address.length, score }
    }
  },
}

/** Returns true for four numbers, also with a port as in tcpdump. More numbers, and 1.3.6.1.4, are an object id. */
function endsThere(address: string, after: string): boolean {
  return (
    !/^\.\d/.test(after) || (/^\.\d{1,5}(?!\w|\.\d)/.test(after) && Number.parseInt(address) > 2)
  )
}

/** Removes the full stop and the colon of a sentence. */
function addressIn(match: string): string {
  const address = withoutEnd(match, '.')
  return address.endsWith(':') && !address.endsWith('::') ? address.slice(0, -1) : address
}

function ipv6Score(address: string, next: string): number {
  const [bare = '', prefix] = address.split('/', 2)
  if ((prefix !== undefined && Number(prefix) > 128) || /\w/.test(next)) return 0
  const [host = ''] = bare.split('%', 1)
  const halves = host.split('::')
  if (halves.length > 2 || /:::/.test(host)) return 0
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  let size = 0
  for (const [at, group] of groups.entries()) {
    if (/^[\da-f]{1,4}$/i.test(group)) size += 1
    else if (at === groups.length - 1 && ipv4Only.test(group)) size += 2
    else return 0
  }
  if (halves.length === 2 ? size > 8 : size !== 8) return 0
  // Also an operator, and the scope of a name, as in `x :: Face::bad`.
  if (size === 0) return 0.4
  return size > 2 || /\d/.test(host) ? 0.8 : 0.5
}
