const mostNameChars = 48
const partOfName = /[\w-]/

/** Returns the start of the name at an index. */
export function startOfName(text: string, index: number): number {
  let start = index
  while (start > 0 && index - start < mostNameChars && partOfName.test(text[start - 1]!)) start--
  return start
}

/** Returns the end of the name at an index. */
export function endOfName(text: string, index: number): number {
  let end = index
  while (end < text.length && end - index < mostNameChars && partOfName.test(text[end]!)) end++
  return end
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

const passwords = words(
  'password passwords passwd passphrase passcode pwd secret secrets credential credentials login token tokens',
)
/** Words before `key` and `token` that make them names of public values. */
const harmless = words(
  'idempotency idempotent partition sort cache primary foreign public hash range group row column object s3 dedup deduplication lookup index unique composite shard routing message map storage translation i18n locale registry hot short arrow event record feature issue project page next previous prev continuation continue sync cursor resume paging pagination delta skip start end marker batch watch eos bos pad unk cls sep mask special stop input output total prompt completion max min count num first last cached reasoning thinking accepted rejected reserved sampled tur mon don hoc joc whis lac mic hic dic ric smo ho po co',
)
/** Words behind a secret's name that make it a name of a fact about the secret. */
const about = words(
  'count counts type types limit limits budget usage name names length index ids expiry expires expiration expired at url uri path file policy reset field hint required min max ttl endpoint prefix suffix label title description status page form button attempts error errors enabled disabled size',
)
/** Words before `key` without a meaning of their own: `key` alone names many things. */
const nothing = words('the a my your this that json map dict new old each per by')

/** Returns true if a name in code or data, such as `DB_PASSWORD` and `clientSecret`, names a secret. */
export function isSecretName(name: string): boolean {
  const parts = name
    .split(/[_-]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase())
  return parts.some((part, at) => {
    const next = parts[at + 1]
    if (next !== undefined && about.has(next)) return false
    const before = parts[at - 1] ?? ''
    const isToken = part === 'token' || part === 'tokens'
    if (passwords.has(part)) return !(isToken && harmless.has(before))
    if (part === 'id' && before === 'access') return true
    if (part === 'key') return before !== '' && !harmless.has(before) && !nothing.has(before)
    const [, stem = '', kind = ''] =
      /^([a-z\d]+?)(key|token|secret|password|passwd|pwd|passphrase)$/.exec(part) ?? []
    if (stem === '') return false
    return kind === 'key' || kind === 'token' ? !harmless.has(stem) : true
  })
}
