import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { contentFilter } from './content-filter.ts'

// Test data that is kept beside the repository and never in it.
const file = fileURLToPath(
  new URL('../../../../../shared/corpora/content-filter.jsonl', import.meta.url),
)
const measured = existsSync(file) ? test : test.skip
if (!existsSync(file)) console.warn(`contentFilter: not measured, there is no ${file}`)

measured(
  'no harmless line of the corpus trips the list of coarse words, disguised or not',
  async () => {
    const rows = readFileSync(file, 'utf8').trim().split('\n')
    const harmless = rows.map((row) => JSON.parse(row)).filter(({ label }) => label === 'benign')
    const middleware = contentFilter({ leet: true })
    const agent = new Agent({ client: scriptedClient(() => 'Yes.'), middleware })

    const tripped: string[] = []
    for (const { text } of harmless) {
      if ((await agent.run(text)).status === 'blocked') tripped.push(text)
    }

    expect(harmless.length).toBeGreaterThan(100)
    expect(tripped).toEqual([])
  },
)
