import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { ImportGraph } from './import-graph.ts'
import type { Tree } from './tree.ts'
import { importedFiles, upwardImports } from './import-graph.ts'
import { testsByLuck } from './tests-by-luck.ts'

/** Looks at a repository and returns a line for each place that breaks it. */
export type Rule = (tree: Tree) => string[]

const scope = '@lamella/'
const coreName = `${scope}core`
const packageFiles = ['README.md', 'CHANGELOG.md', 'tsconfig.json', 'src/index.ts']

const nodeGlobals =
  /(?<![\w.'"`-])(process\.(argv|cwd|emit|env|exit|hrtime|memoryUsage|nextTick|on|platform|std\w+|version\w*)|Buffer[.(]|require\(|setImmediate\(|__dirname|__filename)/g

const fileName =
  /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|test-d|test-helper|property\.test|node\.test|long\.test|config|eval))?\.m?ts$/

/** Packages that all others may build on, besides core. They run wherever core does. */
export const foundations: readonly string[] = [
  'guardrail',
  'lifecycle',
  'transport',
  'text',
  'store',
]

/** A package may build on these siblings, besides core and the foundations. */
const allowedSiblings = new Set([
  'azure-openai → openai',
  'azure-openai → openai/fetch',
  'evals → middleware-budget',
  'evals → picture',
  'evals → testing',
  'serve → steering',
])

export const rules = {
  'a package has its files': (tree) =>
    packagesOf(tree).flatMap(({ folder }) =>
      packageFiles
        .filter((file) => !tree.has(`${folder}/${file}`))
        .map((file) => `${folder}: ${file} is missing`),
    ),

  'a manifest says what a registry and a bundler need': (tree) =>
    packagesOf(tree).flatMap(({ folder, name, manifest }) =>
      Object.entries({
        // npm finds `create-lamella` by this name alone.
        name: manifest.name === (name.startsWith('create-') ? name : `${scope}${name}`),
        version: /^\d+\.\d+\.\d+$/.test(manifest.version ?? ''),
        description: Boolean(manifest.description),
        keywords: (manifest.keywords?.length ?? 0) > 0,
        license: manifest.license === 'MIT',
        type: manifest.type === 'module',
        sideEffects: manifest.sideEffects === false,
        'engines.node': /^>=\d+\.\d+\.\d+$/.test(manifest.engines?.node ?? ''),
        files: ['dist', 'src', '!src/**/*.test.ts', '!src/**/*.test-d.ts'].every((file) =>
          manifest.files?.includes(file),
        ),
        exports: exportsAreRight(manifest),
        'publishConfig.access': manifest.publishConfig?.access === 'public',
        scripts: Boolean(manifest.scripts?.['build'] && manifest.scripts['pkgcheck']),
      })
        .filter(([, holds]) => !holds)
        .map(([field]) => `${folder}/package.json: \`${field}\` is missing or not as in core`),
    ),

  'every package has the addresses of the root manifest': (tree) => {
    const { homepage, repository, bugs }: Manifest = JSON.parse(tree.get('package.json') ?? '{}')
    return packagesOf(tree).flatMap(({ folder, manifest }) =>
      Object.entries({
        homepage,
        repository: repository && { ...repository, directory: folder },
        bugs,
      })
        .filter(
          ([field, value]) =>
            JSON.stringify(manifest[field as keyof Manifest]) !== JSON.stringify(value),
        )
        .map(
          ([field]) => `${folder}/package.json: run scripts/set-repository.mjs for \`${field}\``,
        ),
    )
  },

  'core is a plain caret peer of every other package': (tree) =>
    packagesOf(tree)
      .filter(({ name }) => name !== 'core' && !name.startsWith('create-'))
      .filter(
        ({ manifest }) =>
          !/^\^\d+\.\d+\.\d+$/.test(manifest.peerDependencies?.[coreName] ?? '') ||
          manifest.devDependencies?.[coreName] !== 'workspace:*' ||
          manifest.dependencies?.[coreName] !== undefined,
      )
      .map(({ folder }) => `${folder}/package.json: ${coreName} must be a peer such as ^1.0.0`),

  'core depends on nothing': (tree) =>
    packagesOf(tree)
      .filter(({ name }) => name === 'core')
      .flatMap(({ folder, manifest }) =>
        [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies]
          .flatMap((dependencies) => Object.keys(dependencies ?? {}))
          .map((dependency) => `${folder}/package.json: depends on ${dependency}`),
      ),

  'core imports nothing from outside itself': (tree) =>
    sources(tree, 'core').flatMap(([path, text]) =>
      imports(text)
        .filter((specifier) => !isInside(path, specifier))
        .map((specifier) => `${path}: imports ${specifier}`),
    ),

  'core and the foundations run without Node': (tree) =>
    ['core', ...foundations]
      .flatMap((name) => sources(tree, name))
      .flatMap(([path, text]) => [
        ...imports(text)
          .filter((specifier) => specifier.startsWith('node:'))
          .map((specifier) => `${path}: imports ${specifier}`),
        ...[...withoutComments(text).matchAll(nodeGlobals)].map(
          (match) => `${path}: uses ${match[0]}`,
        ),
      ]),

  'a package imports no sibling': (tree) =>
    sources(tree).flatMap(([path, text]) => {
      const own = path.split('/')[1] ?? ''
      return imports(text)
        .filter(
          (specifier) =>
            specifier.startsWith(scope) ||
            (specifier.startsWith('.') && !isInside(path, specifier)),
        )
        .map((specifier) => specifier.slice(specifier.startsWith(scope) ? scope.length : 0))
        .filter(
          (sibling) =>
            !/^core(\/|$)/.test(sibling) &&
            !foundations.includes(sibling) &&
            !allowedSiblings.has(`${own} → ${sibling}`),
        )
        .map((sibling) => `${path}: imports ${sibling}`)
    }),

  'a folder imports only from folders below it': (tree) => upwardImports(importGraph(tree)),

  'everything is exported by name': (tree) =>
    packageCode(tree).flatMap(([path, text]) =>
      [...withoutComments(text).matchAll(/^export\s+(\*|default\b)|\bas default\b/gm)].map(
        (match) => `${path}: ${match[0]}`,
      ),
    ),

  'index.ts only lists exports': (tree) =>
    packageCode(tree)
      .filter(([path]) => path.endsWith('/index.ts'))
      .filter(
        ([, text]) =>
          withoutComments(text)
            .replace(/export\s+(type\s+)?\{[^{}]*\}\s+from\s+'\.\/[^']+';?/g, '')
            .trim() !== '',
      )
      .map(([path]) => `${path}: holds more than \`export { … } from './…'\``),

  'a file is named after what it exports': (tree) =>
    code(tree)
      .filter(
        ([path]) =>
          !fileName.test(basename(path)) ||
          /^(utils?|helpers?|types|common|misc|shared)\./.test(basename(path)),
      )
      .map(([path]) => `${path}: not a name in kebab-case, or one that could hold anything`),

  'an example is short, and has a row in the table of examples': (tree) => {
    const examples = [...tree].filter(([path]) => /^examples\/\d\d-[^/]*\.ts$/.test(path))
    const table = tree.get('examples/README.md') ?? ''
    return [
      ...examples
        .filter(([, text]) => linesOf(text) > 60)
        .map(([path, text]) => `${path}: ${linesOf(text)} lines, at most 60`),
      ...examples
        .map(([path]) => basename(path, '.ts'))
        .filter((name) => !table.includes(`| [${name}](${name}.ts) |`))
        .map((name) => `examples/README.md: ${name} has no row`),
      ...[...table.matchAll(/^\| \[([\w-]+)\]/gm)]
        .filter(([, name]) => !tree.has(`examples/${name}.ts`))
        .map(([, name]) => `examples/README.md: there is no ${name}.ts`),
    ]
  },

  'a package is used in an example': (tree) => {
    const examples = [...tree].filter(([path]) => path.startsWith('examples/'))
    const used = new Set(examples.flatMap(([, text]) => imports(text)))
    return (
      packagesOf(tree)
        .filter(({ name }) => ![...used].some((from) => `${from}/`.startsWith(`${scope}${name}/`)))
        // It writes packages, and is in none.
        .filter(
          ({ name, manifest }) => manifest.exports !== undefined && !name.startsWith('create-'),
        )
        .map(({ folder }) => `${folder}: no example imports it`)
    )
  },

  'no test passes by luck': testsByLuck,

  'no file knows the machine it was written on': (tree) => {
    const places = [process.cwd(), homedir()].filter((place) => place.length > 1)
    return [...tree].flatMap(([path, text]) =>
      places.filter((place) => text.includes(`${place}/`)).map((place) => `${path}: ${place}`),
    )
  },

  'no file names the host of a registry': (tree) =>
    [...tree].flatMap(([path, text]) => {
      const host = path.endsWith('pnpm-lock.yaml')
        ? /https?:\/\/|\btarball:/
        : /https?:\/\/registry\./
      return host.test(text) ? [`${path}: ${host.exec(text)?.[0]}`] : []
    }),
} satisfies Record<string, Rule>

interface Manifest {
  name?: string
  version?: string
  description?: string
  keywords?: string[]
  homepage?: unknown
  repository?: Record<string, string>
  bugs?: unknown
  license?: string
  type?: string
  sideEffects?: boolean
  engines?: { node?: string }
  files?: string[]
  exports?: Exports
  publishConfig?: { access?: string; exports?: Exports }
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

type Exports = Record<string, string | Record<string, string>>

interface Package {
  folder: string
  name: string
  manifest: Manifest
}

function packagesOf(tree: Tree): Package[] {
  return [...tree].flatMap(([path, text]) => {
    const [, folder, name] = /^(packages\/([^/]+))\/package\.json$/.exec(path) ?? []
    if (folder === undefined || name === undefined) return []
    const manifest: Manifest = JSON.parse(text)
    return [{ folder, name, manifest }]
  })
}

/** What is published must be what is in the workspace, less the condition that leads to sources. */
function exportsAreRight({ exports, publishConfig }: Manifest): boolean {
  const main = exports?.['.']
  if (typeof main !== 'object' || main['@lamella/source'] !== './src/index.ts') return false
  const published = JSON.stringify(exports, (key, value: unknown) =>
    key === '@lamella/source' ? undefined : value,
  )
  return published === JSON.stringify(publishConfig?.exports)
}

function code(tree: Tree): [string, string][] {
  return [...tree].filter(([path]) =>
    /^(packages\/[^/]+\/(src|eval)|scripts|tests|examples)\/.*\.m?ts$/.test(path),
  )
}

function packageCode(tree: Tree): [string, string][] {
  return code(tree).filter(([path]) => /^packages\/[^/]+\/src\//.test(path))
}

function sources(tree: Tree, name?: string): [string, string][] {
  return packageCode(tree).filter(
    ([path]) => !isTest(path) && (name === undefined || path.startsWith(`packages/${name}/`)),
  )
}

/** Imports between the sources of each package, and between scripts. */
function importGraph(tree: Tree): ImportGraph {
  return new Map(
    code(tree)
      .filter(([path]) => /^(packages\/[^/]+\/src|scripts|tests)\//.test(path) && !isTest(path))
      .map(([path, text]) => [
        path,
        importedFiles(path, imports(text)).filter((target) => rootOf(target) === rootOf(path)),
      ]),
  )
}

/** `packages/core/src` of a file in it, and `scripts` of a script. */
function rootOf(path: string): string | undefined {
  return /^(packages\/[^/]+\/src|scripts|tests)\//.exec(path)?.[1]
}

/** Counts lines of code: comments and blank lines help a reader, so they cost nothing. */
function linesOf(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length
}

function isTest(path: string): boolean {
  return /\.test(-d|-helper)?\.ts$/.test(path)
}

/** Tells whether an import of this file leads to a file of the same package's sources. */
function isInside(path: string, specifier: string): boolean {
  return specifier.startsWith('.') && rootOf(join(dirname(path), specifier)) === rootOf(path)
}

function imports(text: string): string[] {
  return [...withoutComments(text).matchAll(/\b(?:from|import|import\()\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1] ?? '',
  )
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
