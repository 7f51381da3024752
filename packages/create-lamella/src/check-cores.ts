import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** Checks the installed packages of an application, nested ones too. */
export function checkCores(folder: string): CoreProblem[] {
  const problems: CoreProblem[] = []
  const visit = (modules: string, outer: string | undefined): void => {
    if (!existsSync(modules)) return
    const core = versionOf(join(modules, '@lamella/core')) ?? outer
    for (const place of packagesIn(modules)) {
      const { name = '', version = '', peerDependencies } = manifestOf(place)
      const range = peerDependencies?.['@lamella/core']
      if (range !== undefined && (core === undefined || !satisfies(core, range))) {
        problems.push({ name, version, range, core, message: describe(name, version, range, core) })
      }
      visit(join(place, 'node_modules'), core)
    }
  }
  visit(join(folder, 'node_modules'), undefined)
  return problems
}

function describe(name: string, version: string, range: string, core: string | undefined): string {
  const has = core === undefined ? 'none is installed' : `${core} is installed`
  const major = Number(range.replace(/^\^/, '').split('.')[0])
  const isNewer = core !== undefined && Number(core.split('.')[0]) > major
  const mend = `npm install @lamella/core@${range}`
  const update = isNewer
    ? `, or npm install ${name}@latest if it has a release for core ${core}`
    : ''
  return `${name} ${version} needs @lamella/core ${range}, and ${has}: ${mend}${update}`
}

/** Ranges of Lamella's packages are a caret and a version; others are taken as they are. */
function satisfies(version: string, range: string): boolean {
  const [, wanted] = /^\^(\d+\.\d+\.\d+)$/.exec(range) ?? []
  if (wanted === undefined) return true
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  const [least = 0, leastMinor = 0, leastPatch = 0] = wanted.split('.').map(Number)
  if (major !== least) return false
  return minor > leastMinor || (minor === leastMinor && patch >= leastPatch)
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(modules, name)).map((sub) => join(modules, name, sub))
        : [join(modules, name)],
    )
    .filter((place) => existsSync(join(place, 'package.json')))
}

function manifestOf(place: string): Manifest {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest
}

function versionOf(place: string): string | undefined {
  return existsSync(join(place, 'package.json')) ? manifestOf(place).version : undefined
}
