import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Paths and patterns of the command line: a file that is named runs, however long it takes. */
const named = process.argv.slice(2).filter((argument) => !/^(?:-|run$|watch$)/.test(argument))
const modules = ['**/node_modules/**']
const isLong = process.env['LAMELLA_TESTS'] === 'long'
const isNamedLong = named.some((name) => name.includes('.long.'))

/** Returns the patterns of tests in a folder: the quick ones, or those that `npm run check long` runs. */
function testsIn(folder: string): { readonly include: string[]; readonly exclude: string[] } {
  const longTests = `${folder}/**/*.long.test.ts`
  if (isLong) return { include: [longTests, `${folder}/**/*.property.test.ts`], exclude: modules }
  return {
    include: [`${folder}/**/*.test.ts`],
    exclude: isNamedLong ? modules : [...modules, longTests],
  }
}

// Not `import`, which Node would also take for a `require` inside a dependency.
const conditions = ['@lamella/source', 'node']

// The core that packages are tested with: that of the workspace, or one that was released before.
const core = process.env['LAMELLA_CORE']
const alias =
  core === undefined
    ? {}
    : Object.fromEntries(
        ['authoring', 'index'].map((entry) => [
          entry === 'index' ? '@lamella/core' : `@lamella/core/${entry}`,
          `${core}/dist/${entry}.js`,
        ]),
      )

const fetchFolders = readdirSync('packages')
  .map((name) => `packages/${name}/src`)
  .filter((folder) => existsSync(`${folder}/fetch`))

// All packages in one project: files of different projects share no modules.
const packages = {
  extends: true as const,
  test: { name: 'packages', ...testsIn('packages/*/src') },
}

// The tests of provider clients, once more against those that send with `fetch` and load no SDK.
const withFetch = {
  extends: true as const,
  plugins: [{ name: 'fetch-clients', enforce: 'pre' as const, resolveId: fetchClient }],
  test: {
    name: 'packages/fetch',
    include: fetchFolders.flatMap((folder) => testsIn(folder).include),
    exclude: fetchFolders.flatMap((folder) => [
      ...testsIn(folder).exclude,
      `${folder}/**/*sdk*.test.ts`,
    ]),
  },
}

/** Gives tests a client from the folder `fetch` in place of the one of the same name on the SDK. */
function fetchClient(source: string, importer = ''): string | undefined {
  const [, file] = /^\.\.?\/(?:.*\/)?([\w-]+-client\.ts)$/.exec(source) ?? []
  const [sources] = /^.*\/packages\/[\w-]+\/src\//.exec(importer) ?? []
  if (file === undefined || sources === undefined || !importer.endsWith('.test.ts'))
    return undefined
  const path = `${sources}fetch/${file}`
  return existsSync(path) ? path : undefined
}

// The compiler reads the whole repository for each of them, so a run of some tests does without.
const types = {
  extends: true as const,
  test: {
    name: 'types',
    include: [],
    typecheck: {
      enabled: true,
      only: true,
      include: ['packages/*/src/**/*.test-d.ts'],
      tsconfig: 'tsconfig.json',
      ignoreSourceErrors: true,
    },
  },
}

export default defineConfig({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    environment: 'node',
    // Test files share their modules, which takes half of the time. The long ones start processes, or watch their own.
    isolate: isLong,
    setupFiles: [`${import.meta.dirname}/tests/support/vitest-setup.ts`],
    // What fails says how, also where only the first line of its error is kept.
    chaiConfig: { truncateThreshold: 1000 },
    // One more than cores: a quarter of the time, tests wait for a server or a timer.
    maxWorkers: availableParallelism() + 1,
    // For tests that hang: on a machine with other work, a test takes many times as long.
    testTimeout: isLong || isNamedLong ? 300_000 : 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/*.test-helper.ts'],
    },
    projects: [
      packages,
      withFetch,
      { extends: true, test: { name: 'scripts', ...testsIn('scripts') } },
      { extends: true, test: { name: 'tests', ...testsIn('tests') } },
      { extends: true, test: { name: 'examples', ...testsIn('examples') } },
      ...(named.length === 0 && !isLong ? [types] : []),
    ],
  },
})
