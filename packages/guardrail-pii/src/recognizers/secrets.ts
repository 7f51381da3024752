import { digitsOf } from '../base/checksums.ts'
import { matchesOf } from '../base/matches-of.ts'
import { patternRecognizer } from '../base/recognizer.ts'
import type { Candidate, Recognizer } from '../base/recognizer.ts'
import { vendorSecrets } from './vendor-secrets.ts'
import { endOfName, isSecretName, startOfName } from './secret-names.ts'
import { withoutEnd } from '../base/without-end.ts'

const kind = 'secret'
// Shortest token of a vendor. Most texts have no such word.
const longWord = /[\w+/=.~%|\\-]{12}/
const vendors = vendorSecrets.map((form) =>
  patternRecognizer({
    kind,
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9_.+-]|(?<!\/)\/)(?:${form})(?![A-Za-z0-9_]|-[A-Za-z0-9]{2})`,
    ),
    // Above an e-mail address: a token before a host looks like one.
    check: (match) => looksRandom(match) && 0.96,
  }),
)

const name = /passw|passphrase|passcode|pwd|secret|token|credential|login|key/gi
// Characters between a name and its value in code, JSON, YAML and XML.
const assignment =
  /["'`)\]]{0,2}[ \t]{0,4}(?:string[ \t]{1,3})?(?:(?:[?:.|+]{0,3}=|:{1,3}=?|,)[>~]?|>)\s{0,40}["'`]{0,3}/y
const assignedValue = /[A-Za-z0-9_+/=.~!@#$%^&*|:-]{5,512}/y
const password =
  /\b(?:password|passphrase|pass ?code|pwd) (?:is|was|will be|=)[ :]{1,3}["'`]?(?<value>[A-Za-z0-9_+/=.~!@#$%^&*-]{6,256})/i
// A word may follow in a sentence, so that only values unlike words count.
const said =
  /\b(?:password|passphrase|pass ?code|secret|token|api key|access key) (?:is|was|will be|=)[ :]{1,3}["'`]?(?<value>[A-Za-z0-9_+/=.~!@#$%^&*-]{6,256})/i
const authorization =
  /\b(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?\s{0,3}(?:bearer|basic|token|apikey)?|bearer|basic)\s{1,3}(?<value>[A-Za-z0-9_+/=.~-]{12,2048})/i
const curlUser =
  /(?<=\s)(?:-u|--user)[ =]{0,4}["']?(?<value>[^\s:"'$<{]{0,64}:(?:["']?[^\s"'<{]{1,128})?)/
const flag = /(?<=\s)(?:-p|--password[ =]{1,3}|-p[ =]{1,3})["']?(?<value>[^\s"'$<{-][^\s"']{3,128})/
const netrc = /\blogin[ \t]{1,8}[^\s]{1,64}\s{1,8}password[ \t]{1,8}(?<value>[^\s]{4,128})/
// Labels that people write in notes and chats.
const shortLabel =
  /(?<![\w-])(?:pw|pass|pwd|psk)["']?[ \t]{0,2}[:=][ \t]{0,3}["'`]?(?<value>[A-Za-z0-9_+/=.~!@#$%^&*-]{6,256})/i
const authLabel =
  /(?<![\w-])(?:auth|x-auth)["']?[ \t]{0,2}[:=][ \t]{0,3}["'`]?(?<value>[A-Za-z0-9_+/=.~-]{12,512})/i
const identifiedBy =
  /\bidentified\s{1,4}(?:with\s{1,4}["']?\w{1,40}["']?\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?N?["'](?<value>[^"'\s]{4,128})["']/i
const withPassword =
  /\b(?:with|set|encrypted|role|user)\s{1,4}(?:encrypted\s{1,4})?password\s{1,4}(?:=\s{0,4})?N?["'](?<value>[^"'\s]{4,128})["']/i
// Of a container registry: user and password in base64.
const registryAuth =
  /"(?:auth|identitytoken)"\s{0,3}:\s{0,3}"(?<value>[A-Za-z0-9+/]{8,2048}={0,2})"/
// A line of `.pgpass`: host, port, database, user, password.
const pgpass =
  /(?<![^\n])[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,63}:[\w*.-]{1,63}:(?<value>[^\s:]{4,128})(?![^\r\n])/
// A line of YAML whose value is text in base64, as in each secret of Kubernetes, whatever its name is.
const encodedLine =
  /(?<![^\n])[ \t]{1,12}[\w.-]{1,40}:[ \t]{1,4}["']?(?<value>[A-Za-z0-9+/]{12,2048}={0,2})["']?[ \t]{0,4}(?![^\r\n])/
// Passwords of a server in its own settings, and tokens that a machine joins a cluster with.
const serverPassword =
  /(?<![\w-])(?:requirepass|masterauth)[ \t]{1,8}["']?(?<value>[^\s"']{6,256})/i
const joinToken = /(?<=\s)--token[ =]{1,3}(?<value>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])/
const crypt =
  /(?<![\w$])(?<value>\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|\$[156y]\$(?:[\w=,]{1,30}\$)?[./A-Za-z0-9]{1,22}\$[./A-Za-z0-9]{22,86}|\$argon2(?:id|i|d)\$[\w=,$]{8,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180})(?![./A-Za-z0-9])/
const urlUser =
  /(?<=[a-z\d+.-]):\/\/(?<value>[^\s:@/?#"'<>[\]{}]{0,64}:[^\s:@/?#"'<>[\]{}]{1,128})@/i
const slackHook =
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<value>[A-Za-z0-9+/]{23,120})/

/** Recognizes keys, tokens and passwords: by the forms of vendors, and by the names before them. */
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
    check: (match, before) => /\bcurl\b/.test(before) && looksLogin(match) && 0.8,
  }),
  patternRecognizer({ kind, pattern: password, check: (match) => looksPassword(match) && 0.8 }),
  patternRecognizer({
    kind,
    pattern: flag,
    check: (match, before) => isAfterPasswordCommand(before) && !isPlaceholder(match) && 0.8,
  }),
  patternRecognizer({ kind, pattern: shortLabel, check: (match) => looksPassword(match) && 0.8 }),
  patternRecognizer({ kind, pattern: authLabel, check: (match) => looksSaid(match) && 0.8 }),
  patternRecognizer({
    kind,
    pattern: identifiedBy,
    check: (match) => !isPlaceholder(match) && 0.9,
  }),
  patternRecognizer({
    kind,
    pattern: withPassword,
    check: (match) => !isPlaceholder(match) && 0.85,
  }),
  patternRecognizer({ kind, pattern: registryAuth, check: (match) => isEncodedText(match) && 0.9 }),
  patternRecognizer({ kind, pattern: encodedLine, check: (match) => isEncodedText(match) && 0.7 }),
  patternRecognizer({
    kind,
    pattern: serverPassword,
    check: (match) => looksPassword(match) && 0.85,
  }),
  patternRecognizer({
    kind,
    pattern: joinToken,
    check: (match) => looksRandom(match.replace('.', '')) && 0.85,
  }),
  patternRecognizer({ kind, pattern: pgpass, check: (match) => looksPassword(match) && 0.8 }),
  patternRecognizer({ kind, pattern: netrc, check: (match) => !isPlaceholder(match) && 0.8 }),
  patternRecognizer({ kind, pattern: crypt, score: 0.9 }),
  patternRecognizer({ kind, pattern: urlUser, check: (match) => !isPlaceholder(match) && 0.85 }),
  patternRecognizer({ kind, pattern: slackHook, check: (match) => !isPlaceholder(match) && 0.9 }),
]

// Commands with a password behind `-p`.
const takesPassword = /\b(?:mysql|mysqldump|mysqladmin|mariadb|docker login|sshpass)\b/

/** Returns true if the command at the end of a text takes a password behind `-p`. */
function isAfterPasswordCommand(before: string): boolean {
  const last = before.slice(-200)
  const start = Math.max(last.lastIndexOf('|'), last.lastIndexOf(';'), last.lastIndexOf('&'))
  return takesPassword.test(last.slice(start + 1))
}

/** Maximum length of a name, its separator and its value. */
const mostAssignedChars = 700

/** Returns the index of the first digit at an index or behind it. */
function digitFrom(text: string, from: number): number {
  anyDigit.lastIndex = from
  return anyDigit.test(text) ? anyDigit.lastIndex - 1 : Infinity
}

const anyDigit = /\d/g

/** Finds the values of names such as `password`. */
function* assigned(text: string): Generator<Candidate> {
  let done = 0
  let nextDigit = -1
  for (const { index, 0: word } of matchesOf(text, name)) {
    if (index < done) continue
    if (nextDigit < index) nextDigit = digitFrom(text, index)
    // A value without a digit does not look like a secret.
    if (nextDigit - index > mostAssignedChars) continue
    const nameEnd = (done = endOfName(text, index + word.length))
    assignment.lastIndex = nameEnd
    const between = assignment.exec(text)?.[0]
    if (between === undefined) continue
    if (!isSecretName(text.slice(startOfName(text, index), nameEnd))) continue
    const start = (assignedValue.lastIndex = nameEnd + between.length)
    const value = assignedValue.exec(text)?.[0] ?? ''
    const end = start + value.length
    if (looksSecret(value) && !/[\w(]/.test(text.charAt(end))) yield { start, end, score: 0.8 }
  }
}

const keyHead = /-----BEGIN (?:[A-Z\d]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const keyBody = /[A-Za-z\d+/=\s\\:,."'-]*/y

const keyFoot = /-----END [A-Z\d ]{1,60}-----/
const maxKeyChars = 8192

/** Finds private keys in PEM (RFC 7468) and OpenPGP armour, also unfinished ones. */
function* privateKeys(text: string): Generator<Candidate> {
  let done = 0
  for (const { index, 0: head } of matchesOf(text, keyHead)) {
    if (index < done) continue
    const body = text.slice(index, index + maxKeyChars)
    const foot = keyFoot.exec(body)
    keyBody.lastIndex = head.length
    done =
      index + (foot ? foot.index + foot[0].length : head.length + keyBody.exec(body)![0].length)
    yield { start: index, end: done, score: 0.99 }
  }
}

/** Returns the index of an unfinished private key at `from` or behind it. */
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

/** Returns true for random characters: not one repeated sign, not the word `example`, not a name or a sentence. */
function looksRandom(value: string): boolean {
  return !isPlaceholder(value) && !isSequence(value) && new Set(value.slice(-40)).size > 5
}

/** Returns true for digits and letters in their order behind a prefix, as people type where a real key would stand. */
function isSequence(value: string): boolean {
  const bare = value.replace(/^(?:[A-Za-z]{1,12}[-_]){0,3}/, '')
  return bare !== '' && bare.replaceAll(run, '') === ''
}

const run = /0?123456789?0?|abcdef(?:ghij)?/gi

/** Returns true for base64 of plain text, as in a secret of Kubernetes or a registry's login. */
function isEncodedText(value: string): boolean {
  if (value.length % 4 !== 0 || !/^[A-Za-z\d+/]{8,}={0,2}$/.test(value)) return false
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false
  return /^[\x20-\x7e]+$/.test(atob(value))
}

/** Returns true for letters of both cases and digits, or a text longer than any word. */
function looksSaid(value: string): boolean {
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
  const hasBoth = /\d/.test(value) && /[a-z]/i.test(value)
  return looksRandom(value) && (isMixed || (hasBoth && value.length >= 16))
}

/** Returns true for a user and a password, or a long one of the two. */
function looksLogin(value: string): boolean {
  if (isPlaceholder(value)) return false
  const [user = '', word = ''] = value.split(/:["']?/, 2)
  return user === '' || word === ''
    ? (user + word).length >= 8
    : word.length >= 3 || user.length >= 16
}

/** Returns true for letters and digits. A named password may be as short as people make them. */
function looksPassword(value: string): boolean {
  const bare = withoutEnd(value, '.,;:!')
  return !isPlaceholder(bare) && /\d/.test(bare) && /[a-z]/i.test(bare)
}

function looksSecret(value: string): boolean {
  const bare = withoutEnd(value, '.,;:!')
  const digits = digitsOf(bare).length
  if (isPlaceholder(bare) || isSequence(bare)) return false
  if (isEncodedText(value)) return true
  if (digits < 2) return false
  if (/^[a-z]+:\/\//i.test(bare) || /^\.{0,2}\//.test(bare)) return false
  if (bare.length < 6 || !/[a-z]/i.test(bare)) return digits > 15 && digits === bare.length
  if (/^(?:v?\d+\.\d+\.|\d{4}-\d\d-\d\d|0x\d{1,4}$|\d+[a-z]{1,3}$)/i.test(bare)) return false
  return bare.length >= 12 ? entropyOf(bare) >= 2.5 : !/^[A-Za-z]+\d{1,2}$/.test(bare) || digits > 2
}

const placeholder =
  /^(?:<.*|\$.*|\{.*|%.*%?|\[.*|\*+|x+|\.+|null|none|undefined|true|false|your[_-].*|my[_-].*|pass|passw(?:or)?d|pwd|secret|changeme|redacted|placeholder)$|\.\.\.|\*\*\*|xxxx|example(?:key)?$|example[_-]?(?:key|token|secret)|(?:process|os)\.env|getenv|secrets?\./i

function isPlaceholder(value: string): boolean {
  return placeholder.test(value)
}

/** Returns the entropy in bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const sign of value) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length)
  }
  return bits
}
