import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the types of Azure’s own package are imported for the entry with the SDK alone', () => {
  const folder = new URL('.', import.meta.url)
  const sources = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts', '**/*.test-d.ts'] })

  const importing = sources.filter((path) =>
    /from '@azure\/openai/.test(readFileSync(new URL(path, folder), 'utf8')),
  )
  const reaching = sources.filter((path) =>
    /from '.*\/azure-extensions\.ts'/.test(readFileSync(new URL(path, folder), 'utf8')),
  )

  expect(importing).toEqual(['azure-extensions.ts'])
  expect(reaching.toSorted()).toEqual(['index.ts', 'sdk-sender.ts'])
})
