/** Creates a matcher of names. In a glob, `*` matches any characters and `?` one. */
export function nameGlob(globs: readonly string[]): (name: string) => boolean {
  const exact = new Set(globs.filter((glob) => !/[*?]/.test(glob)))
  const patterns = globs.filter((glob) => /[*?]/.test(glob)).map((glob) => glob.split(/\*+/))
  return (name) => exact.has(name) || patterns.some((parts) => matches(parts, name))
}

/** Finds the parts between stars one after another, without backtracking. */
function matches(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts
  if (!startsWith(name, 0, first)) return false
  if (rest.length === 0) return name.length === first.length
  let at = first.length
  const last = rest.pop()!
  for (const part of rest) {
    while (at + part.length <= name.length && !startsWith(name, at, part)) at++
    at += part.length
  }
  const end = name.length - last.length
  return at <= end && startsWith(name, end, last)
}

function startsWith(name: string, at: number, part: string): boolean {
  if (at + part.length > name.length) return false
  for (let index = 0; index < part.length; index++) {
    if (part[index] !== '?' && part[index] !== name[at + index]) return false
  }
  return true
}
