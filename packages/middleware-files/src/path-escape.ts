/** Why a path is refused, without looking at a disk. */
export type PathFault = 'escape' | 'control-character' | 'scheme' | 'device' | 'home'

/** How a path is read. */
export type Dialect = 'posix' | 'win32'

/**
 * Whether a path leads out of the folder it is relative to, in any of the dialects, as it is written or
 * after up to `decode` rounds of percent-decoding. Absolute paths are judged by their folder, later.
 */
export function pathFault(
  path: string,
  dialects: readonly Dialect[],
  decode: number,
): PathFault | undefined {
  let text = path
  for (let round = 0; ; round++) {
    const fault = faultOf(text, dialects)
    if (fault !== undefined) return fault
    // A name that becomes a path of its own is no name.
    if (round > 0 && isAbsolute(text, dialects) && !isAbsolute(path, dialects)) return 'escape'
    if (round >= decode || !text.includes('%')) return undefined
    const decoded = decodeOnce(text)
    if (decoded === text) return undefined
    text = decoded
  }
}

/** Whether a path is absolute in a dialect. */
export function isAbsolute(path: string, dialects: readonly Dialect[]): boolean {
  if (path.startsWith('/')) return true
  return dialects.includes('win32') && /^(?:[A-Za-z]:|\\)/.test(path)
}

function faultOf(path: string, dialects: readonly Dialect[]): PathFault | undefined {
  if (/[\p{Cc}]/u.test(path)) return 'control-character'
  if (/^[A-Za-z][A-Za-z0-9+.-]+:(?=[/\\])/.test(path)) return 'scheme'
  if (/^~(?:[/\\]|[\w.-]*$)/.test(path)) return 'home'
  for (const dialect of dialects) {
    const parts = path.split(dialect === 'win32' ? /[/\\]/ : '/')
    if (dialect === 'win32' && parts.some(isDevice)) return 'device'
    if (climbs(parts, dialect)) return 'escape'
  }
  return undefined
}

/** Whether it goes above where it began. An absolute one begins at its own root. */
function climbs(parts: readonly string[], dialect: Dialect): boolean {
  let depth = 0
  for (const part of parts) {
    // Windows drops dots and spaces at the end of a name, so that `...` and `.. ` are `..` to some of it.
    const name = dialect === 'win32' ? part.replace(/(?<=[^. ])[. ]{1,64}$/, '') : part
    if (name === '' || name === '.') continue
    const isUp =
      name === '..' || (dialect === 'win32' && /^\.\.[. ]*$/.test(name) && name.length < 64)
    depth += isUp ? -1 : 1
    if (depth < 0) return true
  }
  return false
}

/** Names that Windows keeps for devices, and streams behind a colon. */
function isDevice(part: string, at: number): boolean {
  if (/^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:[. :]|$)/i.test(part)) return true
  return (
    part.includes(':') && !(at === 0 && /^[A-Za-z]:/.test(part) && !part.slice(2).includes(':'))
  )
}

/**
 * One round of percent-decoding. Bytes that are no UTF-8 are read as old servers read them: an overlong
 * form stands for its character.
 */
function decodeOnce(text: string): string {
  return text
    .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return slashes[character] ?? character
    })
    .replace(/%c0%([0-9a-f]{2})|%c1%([0-9a-f]{2})/gi, (_, low?: string, high?: string) =>
      String.fromCharCode(
        (Number.parseInt(low ?? high ?? '', 16) & 0x3f) + (low === undefined ? 0x40 : 0),
      ),
    )
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** What looks like a slash became one where old servers had no such character. */
const slashes: Readonly<Record<string, string>> = {
  '\u2215': '/',
  '\u2044': '/',
  '\uff0f': '/',
  '\u2216': '\\',
  '\uff3c': '\\',
}
