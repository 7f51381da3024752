import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Parts for authors, which are made for each call, and packages for tests and new projects. */
const unchecked = new Set(['holdBackGate', 'guardrailOptions', 'chatReader'])
const otherPackages = new Set(['testing', 'transport', 'create-lamella'])

interface Factory {
  readonly name: string
  readonly file: string
  readonly isClass: boolean
}

/** All that take an object of options, by the reports of the public types. */
function factories(): readonly Factory[] {
  return globSync(join(root, 'packages/*/api/*.md')).flatMap((report) => {
    const folder = dirname(dirname(report))
    const file = join(folder, 'src', `${basename(report, '.md')}.ts`)
    if (otherPackages.has(basename(folder)) || !existsSync(file)) return []
    const text = readFileSync(report, 'utf8')
    const functions = text.matchAll(/^export function (\w+)(?:<.*?>)?\(options\??: /gm)
    const classes = text.matchAll(/^export class (\w+)[^{]*\{\n    constructor\(options\??: /gm)
    return [
      ...[...functions].map(([, name]) => ({ name: name!, file, isClass: false })),
      ...[...classes].map(([, name]) => ({ name: name!, file, isClass: true })),
    ].filter(({ name }) => !unchecked.has(name))
  })
}

const all = factories()

test('there are many of them', () => {
  expect(all.length).toBeGreaterThan(40)
})

test.each(all)('$name takes no text, number or list for its options', async (factory) => {
  const { name, file, isClass } = factory
  const module = (await import(file)) as Record<string, (options: unknown) => unknown>
  const make = async (options: unknown): Promise<unknown> => {
    const Made = module[name] as unknown as new (given: unknown) => unknown
    return isClass ? new Made(options) : await module[name]!(options)
  }

  for (const wrong of ['fast', 7, ['fast']]) {
    // oxlint-disable-next-line no-await-in-loop
    const error = await make(wrong).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(/: (the options must be an object|`\w+` must be )/)
  }
})
