import { nearestName } from './check-options.ts'

/**
 * Throws for an unknown option, with the name that was probably meant. `elsewhere` has hints for
 * options that belong to another place.
 * @throws TypeError that names the option
 */
export function checkNames(
  owner: string,
  options: object,
  names: ReadonlySet<string>,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  for (const name of Object.keys(options)) {
    if (names.has(name) || (options as Record<string, unknown>)[name] === undefined) continue
    const place = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
    const nearest = nearestName(name, [...names])
    const hint = place ?? (nearest === undefined ? undefined : `did you mean \`${nearest}\`?`)
    throw new TypeError(
      `${owner}: unknown option \`${name}\`${hint === undefined ? '' : `; ${hint}`}`,
    )
  }
}
