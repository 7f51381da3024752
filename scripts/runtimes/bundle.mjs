import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { foundations } from '../conventions/conventions.ts'

const copy = '?copy'

/**
 * Puts the tests of core and of the packages that run wherever core does, what they test and their runner into one
 * module that needs nothing of Node.
 */
export async function bundleTests(outfile) {
  const files = globSync(`packages/{core,${foundations.join()}}/src/**/*.test.ts`)
    .filter((file) => !/\.(?:node|long)\.test\.ts$/.test(file))
    .toSorted()
  await build({
    stdin: { contents: entry(files), resolveDir: '.' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    mainFields: ['module', 'main'],
    conditions: ['@lamella/source', 'import', 'default'],
    // Tests read from it how long to run. Some runtimes have none, and Deno gives it to nobody unasked.
    define: { 'process.env': '{}' },
    plugins: [secondCopy],
  })
  return files
}

/**
 * The bundler makes of `import()` a function that is called later, where timers and randomness are
 * allowed. Core itself is loaded at the top, as applications do: there a worker allows neither.
 */
function entry(files) {
  return `
    import { runTestFiles } from './scripts/runtimes/run-tests.mjs'
    export * as core from './packages/core/src/index.ts'
    export const runTests = () => runTestFiles({
      ${files.map((file) => `'/${file}': () => import('./${file}'),`).join('\n')}
    })
  `
}

/** `import()` in a test asks, after `vi.resetModules()`, for another copy of core. */
const secondCopy = {
  name: 'second-copy',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, importer, resolveDir, pluginData }) => {
      const asked = kind === 'dynamic-import' && importer.endsWith('.test.ts')
      return asked || pluginData === copy ? { path: resolve(resolveDir, path), suffix: copy } : null
    })
    onLoad({ filter: /\.ts$/ }, ({ path, suffix }) =>
      suffix === copy ? { contents: readFileSync(path), loader: 'ts', pluginData: copy } : null,
    )
  },
}
