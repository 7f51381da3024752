import semver from 'semver'

/** Facts about a package that determine its Node version. */
export interface NodeNeeds {
  /** The package's name. */
  readonly name: string
  /** `engines.node` of its manifest. */
  readonly engines: string
  /** The text of its README. */
  readonly readme: string
  /** `engines.node` of its dependencies and peers, by their names. */
  readonly dependencies: Readonly<Record<string, string | undefined>>
}

/** Returns a line for each Node version that a dependency does not support, or that the README does not state. */
export function nodeProblems({ name, engines, readme, dependencies }: NodeNeeds): string[] {
  const oldest = semver.minVersion(engines)
  if (oldest === null) return [`${name}: \`engines.node\` is "${engines}"`]
  const told = /\bNode (\d+\.\d+) or newer/.exec(readme)?.[1]
  const promised = `${oldest.major}.${oldest.minor}`
  return [
    ...(told === promised
      ? []
      : [`${name}: the README states Node ${told}, the manifest ${promised}`]),
    ...Object.entries(dependencies)
      .filter(([, needed = '*']) => !semver.satisfies(oldest, needed))
      .map(([dependency, needed]) => `${name}: ${dependency} needs Node ${needed}, not ${engines}`),
  ]
}
