/** How a path is read. */
export type PathDialect = 'posix' | 'win32'

/** Reasons why a path is not a plain file path. */
export type PathOddity = 'control-character' | 'scheme' | 'home' | 'device'

/** Returns true if a path is absolute in one of the dialects. */
export function isAbsolutePath(path: string, dialects: readonly PathDialect[]): boolean {
  if (path.startsWith('/')) return true
  return dialects.includes('win32') && /^(?:[A-Za-z]:|\\)/.test(path)
}

/**
 * Returns the reason why a path is not a plain file path in one of the dialects, if there is one.
 */
export function pathOddity(path: string, dialects: readonly PathDialect[]): PathOddity | undefined {
  if (/\p{Cc}/u.test(path)) return 'control-character'
  if (/^[A-Za-z][A-Za-z0-9+.-]+:(?=[/\\])/.test(path)) return 'scheme'
  if (/^~[^$ /\\]*(?:[/\\]|$)/.test(path)) return 'home'
  return dialects.includes('win32') && path.split(slashes).some(isDevice) ? 'device' : undefined
}

/**
 * Returns the names in a path: without dots and, for `win32`, as Windows compares them. Returns
 * undefined for a path that leaves or may leave its starting folder.
 * @example
 * ```ts
 * import { pathNames } from '@lamella/text'
 *
 * console.log(pathNames('notes/./2026/../a.txt', 'posix')) // [ 'notes', 'a.txt' ]
 * console.log(pathNames('../secrets', 'posix')) // undefined
 * ```
 */
export function pathNames(path: string, dialect: PathDialect): readonly string[] | undefined {
  const isWindows = dialect === 'win32'
  // From where that drive stands, which nobody knows.
  if (isWindows && /^[A-Za-z]:[^/\\]/.test(path)) return undefined
  const names: string[] = []
  for (const part of path.split(isWindows ? slashes : '/')) {
    const name = isWindows ? windowsName(part) : part
    if (name === undefined) return undefined
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.length === 0 || (isWindows && names.length === 1 && isDrive.test(names[0]!))) {
      return undefined
    } else names.pop()
  }
  return names
}

/**
 * One round of percent-decoding. Bytes that are no UTF-8 are read as old servers read them: an overlong
 * form stands for its character.
 */
export function decodePath(text: string): string {
  return text
    .replace(overlong, (code, last: string) => {
      const low = Number.parseInt(last, 16) & 0x3f
      return String.fromCharCode(/^%c1/i.test(code) ? low | 0x40 : low)
    })
    .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return likeSlashes[character] ?? character
    })
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

// Two, three … bytes for a character of one: decoders that allow it read `%c0%ae` as a dot.
const overlong = /%(?:c[01]|e0%80|f0%80%80|f8%80%80%80|fc%80%80%80%80)%([0-9a-f]{2})/gi

/** Characters that old servers without them convert to slashes. */
const likeSlashes: Readonly<Record<string, string>> = {
  '\u2215': '/',
  '\u2044': '/',
  '\uff0f': '/',
  '\u2216': '\\',
  '\uff3c': '\\',
}

// Some servers and some conversions take all of these for slashes.
const slashes = /[/\\\u2044\u2215\u2216\u29f5\u29f8]+/
const isDrive = /^[a-z]:$/

/**
 * A name as Windows and some servers read it: without dots and spaces behind it, `..;` as `..`. Nothing
 * where they differ: some go up at `.. `, and twice at `...`.
 */
function windowsName(part: string): string | undefined {
  const name = part.replace(/^(\.+);.*$/, '$1')
  let end = name.length
  while (name[end - 1] === '.' || name[end - 1] === ' ') end--
  if (end > 0 || name === '..') return name.slice(0, end || 2).toLowerCase()
  return name.replaceAll(' ', '').length < 2 ? '' : undefined
}

/** Names that Windows keeps for devices, and streams behind a colon. */
function isDevice(part: string, at: number): boolean {
  if (/^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:[. :]|$)/i.test(part)) return true
  return (
    part.includes(':') && !(at === 0 && /^[A-Za-z]:/.test(part) && !part.slice(2).includes(':'))
  )
}
