import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('nothing of the AI SDK is loaded at run time, nor named in a type', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !/\.test(-d)?\.ts$/.test(file),
  )
  const imported = files.flatMap((file) =>
    // Examples in doc comments import more.
    [
      ...readFileSync(join(import.meta.dirname, file), 'utf8')
        .replaceAll(/^ *\*.*$/gm, '')
        .matchAll(/from '([^'.][^']*)'/g),
    ].map(([, specifier]) => specifier),
  )

  expect(files.length).toBeGreaterThan(10)
  const core = ['@lamella/core', '@lamella/core/authoring', '@lamella/transport']
  expect(new Set(imported)).toEqual(new Set(core))
})
