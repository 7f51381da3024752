// Builds the package in the current folder: one JavaScript file and one declaration file for each entry
// and program of its manifest, and one for what they share, each with a source map. `--standalone=<entry>`
// makes an entry one file without imports, which a browser loads as it is.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const targets = [
  ...Object.values(manifest.publishConfig.exports).map((target) => target.default),
  ...Object.values(manifest.bin ?? {}),
].filter((target) => target !== undefined)

const names = targets.map((target) => basename(target, '.js'))
const standalone = process.argv.flatMap((flag) => /^--standalone=(.+)$/.exec(flag)?.[1] ?? [])
const declarations = () => [
  dts({ emitDtsOnly: true, oxc: { stripInternal: true }, sourcemap: true }),
  structuralTypes(),
]

rmSync('dist', { recursive: true, force: true })
const together = names.filter((name) => !standalone.includes(name))
await build(together, 'shared')
await build(together, 'shared.d', declarations())
for (const name of standalone) {
  await build([name], name, [noImports()])
  await build([name], `${name}.d`, declarations())
}
for (const target of targets) {
  if (!existsSync(target)) throw new Error(`the manifest names ${target}, which was not built`)
}

async function build(entries, shared, plugins = []) {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    // Dependencies are imported from where they are installed.
    external: /^[^./]/,
    platform: 'neutral',
    // A slow machine is not a fault of the build.
    checks: { bundlerTimings: false },
    plugins,
    onLog(level, log, report) {
      if (level === 'warn') throw new Error(log.message)
      report(level, log)
    },
  })
  await bundle.write({
    dir: 'dist',
    sourcemap: true,
    // The sources are in the package.
    sourcemapExcludeSources: true,
    minifyInternalExports: false,
    // Declarations have the doc comments.
    comments: { legal: true, annotation: true, jsdoc: false },
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: shared, minShareCount: 2 }] },
  })
  await bundle.close()
}

/**
 * Removes the mark of private members from the declarations. With it, classes of two installed copies would
 * have different types; without it, the copies fit each other, as they do at run time. The number of lines
 * stays the same, for the source maps.
 */
function structuralTypes() {
  return {
    name: 'structural-types',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue
        chunk.code = chunk.code.replaceAll(
          /^(\s*)#private;$/gm,
          '$1// Private members are left out.',
        )
      }
    },
  }
}

/** Fails if an entry imports something. */
function noImports() {
  return {
    name: 'no-imports',
    generateBundle(_, bundle) {
      const imports = Object.values(bundle).flatMap((chunk) => chunk.imports ?? [])
      if (imports.length > 0) throw new Error(`a standalone entry imports ${imports.join(', ')}`)
    },
  }
}
