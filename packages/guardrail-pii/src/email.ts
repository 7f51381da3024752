import type { Candidate, Recognizer } from './recognizer.ts'

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

const fileExtensions =
  /\.(?:png|jpe?g|gif|svg|webp|bmp|ico|avif|[cm]?[jt]sx?|css|scss|html?|json|ya?ml|md|txt|py|rb|go|rs|java|php|exe|zip|gz|pdf)$/i

/** E-mail addresses (RFC 5321, and the forms `a[at]b[dot]c` that hide one). */
export const email: Recognizer = {
  kind: 'email',
  *find(text) {
    if (!/@|[[(]at[\])]/i.test(text)) return
    for (const match of text.matchAll(pattern)) {
      const found = addressIn(match)
      if (found) yield found
    }
  },
}

function addressIn(match: RegExpExecArray): Candidate | undefined {
  const { local = '', at: sign = '', domain = '' } = match.groups!
  // What stands around an address in prose and in code is no part of it.
  const trimmed = local.startsWith('"') ? local : local.replace(/^[!#$%&'*+/=?^`{|}~.-]+/, '')
  const start = match.index + local.length - trimmed.length
  const plain = domain.replace(/[[(](?:dot|\.)[\])]/gi, '.')
  const last = plain.slice(plain.lastIndexOf('.') + 1)
  const isRight =
    trimmed !== '' &&
    trimmed.length + domain.length < 254 &&
    !/\.\.|\.$/.test(trimmed) &&
    (/^\p{L}{2,24}$/u.test(last) || /^xn--[a-z\d-]{2,59}$/i.test(last)) &&
    !fileExtensions.test(plain)
  if (!isRight) return undefined
  const escaped = /^[nrtbf](?=[^@])/.test(trimmed) && match.input[start - 1] === '\\' ? 1 : 0
  return {
    start: start + escaped,
    end: match.index + local.length + sign.length + domain.length,
    score: 0.95,
  }
}
