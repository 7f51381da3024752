/** A string in the arguments of a tool call that may be a path. */
export interface PathArgument {
  readonly value: string
  /** Keys and indexes from the top. */
  readonly keys: readonly (string | number)[]
}

/** Keys next to a path that are not paths themselves, as in `{ name, content, encoding }`. */
const noPath = /^(?:contents?|text|body|data|description|encoding|mode|(?:mime|media)?_?type)$/i

/** Keys that hold a path or another kind of value. */
const maybePath =
  /^(?:cwd|src|source|dst|dest|destination|target|input|output|root|location|ur[il]|href)$/i

/** Texts that are paths by their form: `file:`, from the root, from a drive or a home, or upward. */
const leadsAway = /^(?:file:|~|\.\.$|[\\/](?![\\/])|[A-Za-z]:[\\/])|(?:^|[\\/])\.\.[\\/]/i

/** Maximum nesting depth in levels. */
const maxDepth = 200

/**
 * Finds strings whose key, or the key of a list or object around them, may hold a path according to `isPath`. Under
 * keys that may hold something else, such as `target` and `url`, only texts that are paths by their form.
 * @throws RangeError if the arguments are nested too deep
 */
export function pathArguments(
  args: Readonly<Record<string, unknown>>,
  isPath: (key: string) => boolean,
): PathArgument[] {
  const found: PathArgument[] = []
  const visit = (value: unknown, keys: readonly (string | number)[], inside: boolean): void => {
    if (keys.length > maxDepth) throw new RangeError('the arguments are nested too deep')
    if (typeof value === 'string') {
      const key = keys.findLast((one) => typeof one === 'string')
      const isLoose = key !== undefined && maybePath.test(key)
      const away = isLoose && (/^ur[il]$|^href$/i.test(key) ? /^file:/i : leadsAway).test(value)
      if (inside || away) found.push({ value, keys })
    } else if (Array.isArray(value)) {
      value.forEach((item, at) => visit(item, [...keys, at], inside))
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        visit(item, [...keys, key], isPath(key) || (inside && !noPath.test(key)))
      }
    }
  }
  visit(args, [], false)
  return found
}

/** Copies arguments with some of their strings replaced. */
export function withPaths(
  args: Readonly<Record<string, unknown>>,
  changes: readonly PathArgument[],
): Record<string, unknown> {
  const copy = structuredClone(args) as Record<string, unknown>
  for (const { keys, value } of changes) {
    let place = copy as Record<string | number, unknown>
    for (const key of keys.slice(0, -1)) place = place[key] as Record<string | number, unknown>
    // A key may be `__proto__`.
    const last = keys.at(-1)!
    Object.defineProperty(place, last, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}
