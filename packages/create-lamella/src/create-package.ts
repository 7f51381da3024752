import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Kind of a package to create. An `app` is a service with a page. */
export type PackageKind = 'middleware' | 'guardrail' | 'provider' | 'store' | 'app'

/** All kinds of packages. */
export const kinds: readonly PackageKind[] = ['middleware', 'guardrail', 'provider', 'store', 'app']

/** Options of `createPackage`. */
export interface CreateOptions {
  /** Kind of the package. */
  readonly kind: PackageKind
  /** Name of the package, with or without a scope, such as `@acme/lamella-polite`. */
  readonly name: string
  /**
   * Folder to write to.
   * @default a folder of this directory, named after the package
   */
  readonly folder?: string | undefined
  /**
   * Author in the license.
   * @default the scope, or 'the authors'
   */
  readonly author?: string | undefined
  /**
   * Folder of the templates.
   * @default those of this package
   */
  readonly templates?: string | undefined
}

const packageName = /^(?:@([a-z0-9][a-z0-9._-]*)\/)?([a-z][a-z0-9-]*)$/

/** Describes the problem of a kind, if it has one. */
export function problemOfKind(kind: string): string | undefined {
  const isKnown = kinds.some((known) => known === kind)
  return isKnown ? undefined : `the kind must be one of ${kinds.join(', ')}, got ${kind}`
}

/** Describes the problem of a package's name, if it has one. */
export function problemOfName(name: string): string | undefined {
  return packageName.test(name) && name.length <= 214
    ? undefined
    : `the name must have lowercase letters, digits and - only, optionally with a scope, such as @acme/polite; got ${name}`
}

/** Describes the problem of a version of Node with a range such as `>=22.18.0`, if it has one. */
export function problemOfNode(range: string, version: string): string | undefined {
  const parts = (text: string): number[] => text.replace(/^\D+/, '').split('.').map(Number)
  const [needed, own] = [parts(range), parts(version)]
  const at = needed.findIndex((part, index) => part !== own[index])
  return at < 0 || own[at]! > needed[at]!
    ? undefined
    : `It needs Node ${needed.slice(0, 2).join('.')} or newer; this is Node ${version}. Install that first.`
}

/**
 * Writes a package and returns its folder.
 * @throws TypeError for an invalid kind or name, RangeError for a folder that is not empty
 */
export function createPackage(options: CreateOptions): string {
  const { kind, name, templates = ownTemplates() } = options
  const problem = problemOfKind(kind) ?? problemOfName(name)
  if (problem !== undefined) throw new TypeError(`create-lamella: ${problem}`)
  const [, scope, bare = ''] = packageName.exec(name) ?? []
  const folder = options.folder ?? bare
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new RangeError(`create-lamella: the folder ${folder} is not empty`)
  }
  const feature = bare.replace(/^lamella-/, '').replace(/-lamella$/, '') || bare
  const words: Record<string, string> = {
    [`@your-scope/your-${kind}`]: name,
    [`your-${stem(kind)}`]: feature,
    [camel(`your-${stem(kind)}`)]: camel(feature),
    [pascal(`your-${stem(kind)}`)]: pascal(feature),
    [`your-${kind}`]: feature,
    [camel(`your-${kind}`)]: camel(feature),
    [pascal(`your-${kind}`)]: pascal(feature),
    YOUR_API_KEY: `${feature.toUpperCase().replaceAll('-', '_')}_API_KEY`,
    YourDatabase: `${pascal(feature)}Database`,
    '{{year}}': String(new Date().getFullYear()),
    '{{author}}': options.author ?? scope ?? 'the authors',
  }
  const source = join(templates, kind)
  for (const file of filesOf(source)) {
    const target = join(folder, rename(ownNames[file] ?? file, words))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, rename(readFileSync(join(source, file), 'utf8'), words))
  }
  return folder
}

/** Files that have another name in a package: npm omits one, and uses the other itself. */
const ownNames: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'manifest.json': 'package.json',
}

/** The word that a template is written with; clients are named after what they are. */
function stem(kind: PackageKind): string {
  return kind === 'provider' ? 'chat-client' : kind
}

/** Longer words first, so that none matches as a part of another. */
function rename(text: string, words: Readonly<Record<string, string>>): string {
  const parts = Object.keys(words)
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[{}/@.]/g, String.raw`\$&`))
  return text.replaceAll(new RegExp(parts.join('|'), 'g'), (word) => words[word]!)
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(?:node_modules|dist|\.turbo)$/.test(entry.name)) return []
    if (!entry.isDirectory()) return [entry.name]
    return filesOf(join(folder, entry.name)).map((file) => join(entry.name, file))
  })
}

function camel(name: string): string {
  return name.replaceAll(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function pascal(name: string): string {
  const word = camel(name)
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function ownTemplates(): string {
  return fileURLToPath(new URL('../templates', import.meta.url))
}
