import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import semver from 'semver'

/** A package with an incompatible core. */
export interface CoreProblem {
  /** Name of the package. */
  readonly name: string
  /** Installed version of the package. */
  readonly version: string
  /** Range of core in its manifest. */
  readonly range: string
  /** Installed version of core; `undefined` if there is no core. */
  readonly core: string | undefined
  /** One sentence with both versions, and the command that fixes it. */
  readonly message: string
}

/** Result of `checkCores`. */
export interface CoreCheck {
  /** Number of installed packages that need a core. */
  readonly checked: number
  /** Packages whose core does not fit. */
  readonly problems: readonly CoreProblem[]
  /** Reason why nothing could be checked. `undefined` if something was. */
  readonly unchecked: string | undefined
}

/**
 * Checks whether the core that each installed package gets is one that it accepts: packages of the
 * application, and those that packages bring, in the layouts of npm, pnpm, yarn and bun. Without any such
 * package, `unchecked` says why: no result is no proof.
 */
export function checkCores(folder: string): CoreCheck {
  const packages = installedIn(folder)
  const problems: CoreProblem[] = []
  let checked = 0
  for (const place of packages) {
    const { name = '', version = '', peerDependencies, peerDependenciesMeta } = manifestOf(place)
    const range = peerDependencies?.['@lamella/core']
    // A package of a workspace, or one in a folder, names no range.
    if (range === undefined || /^[a-z]+:/.test(range)) continue
    const core = coreOf(place)
    if (core === undefined && peerDependenciesMeta?.['@lamella/core']?.optional === true) continue
    checked++
    if (core !== undefined && semver.satisfies(core, range, { includePrerelease: true })) continue
    problems.push({ name, version, range, core, message: describe(name, version, range, core) })
  }
  const unchecked = checked > 0 ? undefined : reasonFor(folder, packages.length)
  return { checked, problems, unchecked }
}

function reasonFor(folder: string, packages: number): string {
  if (!existsSync(join(folder, 'package.json'))) return `there is no package.json in ${folder}`
  if (existsSync(join(folder, '.pnp.cjs'))) {
    return "Yarn Plug'n'Play keeps packages in archives, which this command does not read; set `nodeLinker: node-modules` to check"
  }
  if (packages === 0) return 'no packages are installed: run npm install first'
  return 'none of the installed packages needs @lamella/core'
}

function describe(name: string, version: string, range: string, core: string | undefined): string {
  const has = core === undefined ? 'none is installed' : `${core} is installed`
  const isNewer = core !== undefined && semver.validRange(range) !== null && semver.gtr(core, range)
  const mend = `npm install @lamella/core@${/[\s|<>*]/.test(range) ? `"${range}"` : range}`
  const update = isNewer
    ? `, or npm install ${name}@latest if it has a release for core ${core}`
    : ''
  return `${name} ${version} needs @lamella/core ${range}, and ${has}: ${mend}${update}`
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Returns the real folders of all packages that an application has, each once. */
function installedIn(folder: string): readonly string[] {
  const found = new Set<string>()
  const visit = (modules: string): void => {
    for (const place of packagesIn(modules)) {
      const real = realpathSync(place)
      if (found.has(real)) continue
      found.add(real)
      visit(join(real, 'node_modules'))
    }
    // pnpm and bun keep what packages bring in a store of their own.
    for (const store of ['.pnpm', '.bun']) {
      for (const name of namesIn(join(modules, store))) {
        visit(join(modules, store, name, 'node_modules'))
      }
    }
  }
  // In a workspace, packages may be in a folder further out.
  for (const at of outward(resolve(folder))) visit(join(at, 'node_modules'))
  return [...found]
}

/** Finds the version of core as Node does: in the nearest `node_modules` further out. */
function coreOf(place: string): string | undefined {
  for (const at of outward(place)) {
    const core = join(at, 'node_modules', '@lamella', 'core')
    if (existsSync(join(core, 'package.json'))) return manifestOf(core).version
  }
  return undefined
}

function outward(place: string): readonly string[] {
  const outer = dirname(place)
  return outer === place ? [place] : [place, ...outward(outer)]
}

function packagesIn(modules: string): readonly string[] {
  return namesIn(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? namesIn(join(modules, name)).map((sub) => join(modules, name, sub))
        : [join(modules, name)],
    )
    .filter((place) => existsSync(join(place, 'package.json')))
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function manifestOf(place: string): Manifest {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest
}
