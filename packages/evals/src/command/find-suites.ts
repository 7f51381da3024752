import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EvaluateOptions } from '../evaluation/evaluate.ts'

/** An evaluation of a file. */
export interface Suite {
  /** Path of the file, absolute. */
  readonly file: string
  readonly options: EvaluateOptions & { readonly name: string }
}

/**
 * Loads the evaluations of files and folders.
 * @throws Error that names the file
 */
export async function findSuites(paths: readonly string[]): Promise<Suite[]> {
  const files = (await Promise.all(paths.map(filesIn))).flat()
  if (files.length === 0)
    throw new Error(
      `there is no file that ends in .eval.ts, .eval.js or .eval.mjs in ${paths.join(', ')}`,
    )
  const suites: Suite[] = []
  for (const file of files) {
    const { default: given } = (await import(pathToFileURL(file).href)) as { default?: unknown }
    for (const options of [given].flat()) {
      if (typeof options !== 'object' || options === null)
        throw new TypeError(
          `${file}: the default export must be the options of an evaluation, or a list of them`,
        )
      const { name = nameOf(file) } = options as EvaluateOptions
      if (!/^[\w.-]{1,80}$/.test(name) || name.startsWith('.'))
        throw new TypeError(
          `${file}: \`name\` must be letters, digits, dots, _ and -, got "${name}"`,
        )
      suites.push({ file, options: { ...(options as EvaluateOptions), name } })
    }
  }
  const names = suites.map(({ options }) => options.name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw new TypeError(`two evaluations have the name "${twice}"`)
  return suites
}

async function filesIn(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [resolve(path)]
  const names = await readdir(path, { recursive: true })
  return names
    .filter(
      (name) => /\.eval\.(?:ts|js|mjs)$/.test(name) && !/(?:^|[\\/])node_modules[\\/]/.test(name),
    )
    .toSorted()
    .map((name) => resolve(join(path, name)))
}

function nameOf(file: string): string {
  return /([^\\/]+?)(?:\.eval)?\.\w+$/.exec(file)?.[1] ?? 'evaluation'
}
