// Builds the package in the current folder: one JavaScript file and one declaration file for each entry
// and program of its manifest, and one for what they share, each with a source map.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const targets = [
  ...Object.values(manifest.publishConfig.exports).map((target) => target.default),
  ...Object.values(manifest.bin ?? {}),
].filter((target) => target !== undefined)

rmSync('dist', { recursive: true, force: true })
await build('shared')
await build('shared.d', [
  dts({ emitDtsOnly: true, oxc: { stripInternal: true }, sourcemap: true }),
  structuralTypes(),
])
for (const target of targets) {
  if (!existsSync(target)) throw new Error(`the manifest names ${target}, which was not built`)
}

async function build(shared, plugins = []) {
  const bundle = await rolldown({
    input: Object.fromEntries(
      targets.map((target) => basename(target, '.js')).map((name) => [name, `src/${name}.ts`]),
    ),
    // Dependencies are imported from where they are installed.
    external: /^[^./]/,
    platform: 'neutral',
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
 * Takes the mark of private members out of the declarations. With it, a class of one installed copy is
 * another type than the same class of another copy; without it, two copies fit each other, as they do
 * at run time. Lines stay where they are, for the source maps.
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
