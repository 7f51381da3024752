/**
 * Checks that no option of a sender stands beside a sender that was given.
 * @throws TypeError that names the option
 */
export function checkNoClash<Name extends string>(
  owner: string,
  options: { readonly [Option in Name]?: unknown },
  names: readonly Name[],
): void {
  const clash = names.find((name) => options[name] !== undefined)
  if (clash === undefined) return
  throw new TypeError(`${owner}: \`${clash}\` belongs to the \`client\` that was given`)
}
