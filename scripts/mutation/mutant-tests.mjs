import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createVitest } from 'vitest/node'

/** All tests of core take a few seconds. */
const maxMs = 120_000

const conditions = ['@lamella/source', 'node']

/**
 * Runs the tests of some packages without an active mutant: those whose path contains one of `filters`, or all. `codeOf` returns a source's text with its mutants, or undefined if it has none. Resolves with the tests that
 * reach each mutant: by its id, the paths of the files, each with the ids of the tests and the time they take.
 * A test that fails is left out, and one that is so long that it would pass for an endless loop.
 */
export async function survey(packages, codeOf, filters) {
  const vitest = await open(packages, codeOf, { retry: 2 })
  const { testModules } = await vitest.runTestSpecifications(
    await vitest.globTestSpecifications(filters),
  )
  const reaching = new Map()
  for (const module of testModules) {
    for (const { fullName } of module.children.allTests('failed'))
      console.log(`left out, because it fails without a mutant: ${fullName}`)
    const ofFile = module.meta().reached ?? []
    for (const test of module.children.allTests('passed')) {
      if (test.meta().isLong) continue
      for (const mutant of new Set([...ofFile, ...test.meta().reached])) {
        const files = reaching.get(mutant) ?? new Map()
        const own = files.get(module.moduleId) ?? { testIds: [], ms: 0 }
        own.testIds.push(test.id)
        own.ms += test.diagnostic().duration
        reaching.set(mutant, files.set(module.moduleId, own))
      }
    }
  }
  await vitest.close()
  return reaching
}

/** Runs tests on one mutant after the other, each in a new thread. */
export class Executioner {
  #vitest
  #open

  constructor(packages, codeOf) {
    // The files of a run share its thread and modules, which saves most of the time.
    this.#open = () => open(packages, codeOf, { isolate: false, maxWorkers: 1, bail: 1 })
  }

  /** Resolves with true if one of the tests fails. Those in `folder` run first, then those that are fast. */
  async kills(mutant, files, folder) {
    if (files.size === 0) return false
    this.#vitest ??= await this.#open()
    const project = this.#vitest.getRootProject()
    project.provide('mutant', mutant)
    const isFar = (path) => Number(!path.startsWith(folder))
    const sorted = [...files].toSorted(
      ([a, { ms }], [b, other]) => isFar(a) - isFar(b) || ms - other.ms,
    )
    const run = this.#vitest.runTestSpecifications(
      sorted.map(([path, { testIds }]) => project.createSpecification(path, { testIds })),
    )
    const result = await Promise.race([run, delay(maxMs, undefined, { ref: false })])
    if (result !== undefined) {
      // The others are of earlier mutants.
      const own = result.testModules.filter(({ moduleId }) => files.has(moduleId))
      return result.unhandledErrors.length > 0 || own.some((module) => !module.ok())
    }
    // An endless loop that asks nothing. Its thread ends with the process at the latest.
    this.#vitest.close().catch(() => {})
    this.#vitest = undefined
    return true
  }

  close() {
    return this.#vitest?.close()
  }
}

function open(packages, codeOf, options) {
  return createVitest(
    'test',
    {
      config: false,
      root: resolve(import.meta.dirname, '../../packages'),
      include: packages.map((name) => `${name}/src/**/*.test.ts`),
      // They are random: their verdict on a mutant may differ from run to run.
      exclude: ['**/*.property.test.ts'],
      setupFiles: [`${import.meta.dirname}/worker.mjs`],
      pool: 'threads',
      watch: false,
      // It would return what an earlier run made of the same sources, with the mutants of that time.
      fsModuleCache: false,
      reporters: [{}],
      onConsoleLog: () => false,
      sequence: { sequencer: AsGiven },
      ...options,
    },
    {
      cacheDir: resolve(import.meta.dirname, '../../packages/core/node_modules/.vite'),
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      plugins: [
        {
          name: 'mutants',
          enforce: 'pre',
          transform: (_, path) => ({ code: codeOf(path), map: null }),
        },
      ],
    },
  )
}

class AsGiven {
  sort = (specifications) => specifications
  shard = (specifications) => specifications
}
