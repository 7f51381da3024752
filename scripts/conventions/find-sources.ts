import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))

/** Texts of the sources of a package in all of its folders, tests left out. */
export function sourcesOf(name: string): string[] {
  return globSync(`${packages}/${name}/src/**/*.ts`)
    .filter((path) => !/\.test(-d|-helper)?\.ts$/.test(path))
    .toSorted()
    .map((path) => readFileSync(path, 'utf8'))
}

/** Text of the source of a package that declares `declaration`, such as `function retry(`. */
export function sourceWith(name: string, declaration: string): string {
  const found = sourcesOf(name).find((text) => text.includes(declaration))
  if (found === undefined) throw new Error(`no source of ${name} has \`${declaration}\``)
  return found
}
