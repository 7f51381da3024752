import { matchesOf } from '../base/matches-of.ts'
import type { Candidate, Recognizer } from '../base/recognizer.ts'

// Letters of any script that puts white space between words. Others end an address, see `separators.ts`.
const letter = String.raw`\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\d`
const at = String.raw`(?:@|[\[(](?:at|AT)[\])])`
const dot = String.raw`(?:\.|[\[(](?:dot|DOT|\.)[\])])`
const label = String.raw`[${letter}](?:[${letter}-]{0,62}[${letter}])?`
const localPart = String.raw`[${letter}!#$%&'*+/=?^_\x60{|}~.-]{1,64}|"(?:[^"\\\r\n]|\\[^\r\n]){1,62}"`
const pattern = new RegExp(
  String.raw`(?<![${letter}!#$%&'*+/=?^_\x60{|}~.@-])(?<local>${localPart})(?<at>${at})(?<domain>${label}(?:${dot}${label}){1,8})`,
  'gu',
)

// As in `logo@2x.png`. Without those that are countries too, such as `md` and `rs`.
const fileExtensions = new Set(
  'png jpg jpeg gif svg webp bmp ico avif min js jsx cjs mjs ts tsx css scss htm html json yml yaml txt rb java php exe gz pdf'.split(
    ' ',
  ),
)

/** Recognizes e-mail addresses (RFC 5321), also hidden as `a[at]b[dot]c`. */
export const email: Recognizer = {
  kind: 'email',
  *find(text) {
    if (!/@|[[(]at[\])]/i.test(text)) return
    for (const match of matchesOf(text, pattern)) {
      const found = addressIn(match)
      if (found) yield found
    }
  },
}

function addressIn(match: RegExpExecArray): Candidate | undefined {
  const { local = '', at: sign = '', domain: labels = '' } = match.groups!
  const domain = domainIn(labels)
  const trimmed = local.startsWith('"') ? local : withoutField(local)
  const start = match.index + local.length - trimmed.length
  const isRight =
    domain !== undefined &&
    trimmed !== '' &&
    trimmed.length + domain.length < 254 &&
    !/\.\.|\.$/.test(trimmed)
  if (!isRight) return undefined
  const escaped = /^[nrtbf](?=[^@])/.test(trimmed) && match.input[start - 1] === '\\' ? 1 : 0
  const end = match.index + local.length + sign.length + domain.length
  return { start: start + escaped, end, score: 0.95 }
}

/** Returns the part of a domain that ends in a possible top-level domain: other text may follow directly. */
function domainIn(labels: string): string | undefined {
  for (let domain = labels; ; ) {
    const mark = Math.max(...Array.from('.])', (sign) => domain.lastIndexOf(sign)))
    if (mark < 0) return undefined
    const top = domain.slice(mark + 1)
    const known = /^(?:xn--[a-z\d-]{2,59}|\p{L}{2,24}(?=$|-))/iu.exec(top)?.[0]
    const isFile = known !== undefined && fileExtensions.has(known.toLowerCase())
    if (known !== undefined && !isFile) return domain.slice(0, mark + 1) + known
    // A file may be named after an address, but a version or a scale is none: `app@2.1.min.js`.
    if (isFile && /^v?\d/.test(domain)) return undefined
    const opening = Math.max(domain.lastIndexOf('[', mark), domain.lastIndexOf('(', mark))
    domain = domain.slice(0, domain[mark] === '.' ? mark : opening)
  }
}

/** Removes characters of prose, code and queries around an address. */
function withoutField(local: string): string {
  const last = Math.max(...Array.from('?&/|{}', (sign) => local.lastIndexOf(sign)))
  return local
    .slice(last + 1)
    .replace(/^[A-Za-z_][\w.-]{0,40}=/, '')
    .replace(/^[!#$%'*+=^`~.-]+/, '')
}
