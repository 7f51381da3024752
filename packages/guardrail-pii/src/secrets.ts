import { patternRecognizer } from './recognizer.ts'
import type { Candidate, Recognizer } from './recognizer.ts'
import { vendorSecrets } from './vendor-secrets.ts'
import { withoutEnd } from './without-end.ts'

const kind = 'secret'
// The shortest of what vendors give out. Most texts have no such word.
const longWord = /[\w+/=.~%|\\-]{12}/
const vendors = vendorSecrets.map((form) =>
  patternRecognizer({
    kind,
    pattern: new RegExp(String.raw`(?<![A-Za-z0-9_./+-])(?:${form})(?![A-Za-z0-9_-])`),
    check: (match) => looksRandom(match) && 0.95,
  }),
)

const name =
  /passw(?:or)?d|passwd|passphrase|pwd|secret|token|credential|login|(?:api|access|auth|private|account|signing|encryption|license)[_-]?key|(?:client|access)[_-]?id|_key|[a-z]key/gi
// What stands between a name and its value in code, JSON, YAML and XML.
const assignment =
  /[\w-]{0,24}["'`)\]]{0,2}[ \t]{0,4}(?:string[ \t]{1,3})?(?:(?:[?:.|+]{0,3}=|:{1,3}=?|,)[>~]?|>)\s{0,8}["'`]{0,3}/y
const assignedValue = /[A-Za-z0-9_+/=.~!@#$%^&*|:-]{5,512}/y
// In a sentence a word may follow, so that only what no word looks like counts.
const said =
  /\b(?:password|passphrase|pass ?code|secret|token|api key|access key) (?:is|was|will be|=)[ :]{1,3}["'`]?(?<value>[A-Za-z0-9_+/=.~!@#$%^&*-]{6,256})/i
const authorization =
  /\b(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?\s{0,3}(?:bearer|basic|token|apikey)?|bearer|basic)\s{1,3}(?<value>[A-Za-z0-9_+/=.~-]{12,2048})/i
const curlUser = /(?<=\s)(?:-u|--user)[ =]?["']?(?<value>[^\s:"'$<{]{1,64}:["']?[^\s"'<{]{3,128})/
const urlUser =
  /(?<=[a-z\d+.-]):\/\/(?<value>[^\s:@/?#"'<>[\]{}]{0,64}:[^\s:@/?#"'<>[\]{}]{1,128})@/i
const slackHook =
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<value>[A-Za-z0-9+/]{23,120})/

/** Keys, tokens and passwords: by the forms of vendors, and where a text says that they are some. */
export const secret: Recognizer = {
  kind,
  *find(text, options) {
    if (longWord.test(text)) for (const vendor of vendors) yield* vendor.find(text, options)
    for (const recognizer of told) yield* recognizer.find(text, options)
    yield* assigned(text)
    yield* privateKeys(text)
  },
}

const told = [
  patternRecognizer({ kind, pattern: said, check: (match) => looksSaid(match) && 0.8 }),
  patternRecognizer({ kind, pattern: authorization, check: (match) => looksSaid(match) && 0.85 }),
  patternRecognizer({
    kind,
    pattern: curlUser,
    check: (match, before) => /\bcurl\b/.test(before) && !isPlaceholder(match) && 0.8,
  }),
  patternRecognizer({ kind, pattern: urlUser, check: (match) => !isPlaceholder(match) && 0.85 }),
  patternRecognizer({ kind, pattern: slackHook, check: (match) => !isPlaceholder(match) && 0.9 }),
]

/** What a name such as `password` is given. */
function* assigned(text: string): Generator<Candidate> {
  for (const { index, 0: word } of text.matchAll(name)) {
    assignment.lastIndex = index + word.length
    const between = assignment.exec(text)?.[0]
    if (between === undefined) continue
    const start = (assignedValue.lastIndex = index + word.length + between.length)
    const value = assignedValue.exec(text)?.[0] ?? ''
    const end = start + value.length
    if (looksSecret(value) && !/[\w(]/.test(text.charAt(end))) yield { start, end, score: 0.8 }
  }
}

const keyHead = /-----BEGIN (?:[A-Z\d]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const keyBody = /[A-Za-z\d+/=\s\\:,."'-]*/y

const keyFoot = /-----END [A-Z\d ]{1,60}-----/
const maxKeyChars = 8192

/** Private keys in PEM (RFC 7468) and OpenPGP armour, up to their end or as far as they go. */
function* privateKeys(text: string): Generator<Candidate> {
  let done = 0
  for (const { index, 0: head } of text.matchAll(keyHead)) {
    if (index < done) continue
    const body = text.slice(index, index + maxKeyChars)
    const foot = keyFoot.exec(body)
    keyBody.lastIndex = head.length
    done =
      index + (foot ? foot.index + foot[0].length : head.length + keyBody.exec(body)![0].length)
    yield { start: index, end: done, score: 0.99 }
  }
}

/** Where a private key begins that may still go on, from an index of the text on. */
export function openPrivateKey(text: string, from: number): number | undefined {
  let at = text.indexOf('-----BEGIN ', from)
  while (at >= 0 && text.length - at < maxKeyChars) {
    const rest = text.slice(at)
    const isOther = /^-----BEGIN (?!.{0,70}PRIVATE KEY).{0,70}-----/.test(rest)
    if (!isOther && !keyFoot.test(rest)) return at
    at = text.indexOf('-----BEGIN ', at + 1)
  }
  return undefined
}

/** Not one sign again and again, not the word `example`, and not a name or a sentence. */
function looksRandom(value: string): boolean {
  return !isPlaceholder(value) && new Set(value.slice(-40)).size > 5
}

/** Letters of both cases and digits, or longer than any word. */
function looksSaid(value: string): boolean {
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
  const hasBoth = /\d/.test(value) && /[a-z]/i.test(value)
  return looksRandom(value) && (isMixed || (hasBoth && value.length >= 16))
}

function looksSecret(value: string): boolean {
  const bare = withoutEnd(value, '.,;:!')
  if (isPlaceholder(bare) || /^[a-z]+:\/\//i.test(bare) || /^\.{0,2}\//.test(bare)) return false
  const [letters, digits] = [/[a-z]/i.test(bare), (bare.match(/\d/g) ?? []).length]
  if (bare.length < 6 || !letters || digits < 2) return digits > 15 && /^\d+$/.test(bare)
  if (/^(?:v?\d+\.\d+\.|\d{4}-\d\d-\d\d|0x\d{1,4}$|\d+[a-z]{1,3}$)/i.test(bare)) return false
  return bare.length >= 12 ? entropyOf(bare) >= 2.5 : !/^[A-Za-z]+\d{1,2}$/.test(bare) || digits > 2
}

const placeholder =
  /^(?:<.*|\$.*|\{.*|%.*%?|\[.*|\*+|x+|\.+|null|none|undefined|true|false|your[_-].*|my[_-].*|changeme|redacted|placeholder)$|\.\.\.|\*\*\*|xxxx|example[_-]?(?:key|token|secret)|(?:process|os)\.env|getenv|secrets?\./i

function isPlaceholder(value: string): boolean {
  return placeholder.test(value)
}

/** Bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const sign of value) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length)
  }
  return bits
}
