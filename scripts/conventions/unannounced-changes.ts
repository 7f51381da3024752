/**
 * Packages whose public types are not those of the last release, and that no changeset names. Before the
 * first release there is nothing to compare with.
 */
export function unannouncedChanges(
  hashes: Readonly<Record<string, string>>,
  released: Readonly<Record<string, string>> | undefined,
  changesets: readonly string[],
): string[] {
  if (released === undefined) return []
  return Object.keys(hashes).filter((name) => {
    if (released[name] === hashes[name]) return false
    return !changesets.some((text) => text.includes(`'${name}'`) || text.includes(`"${name}"`))
  })
}
