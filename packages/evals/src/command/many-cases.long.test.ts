import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { expect, it } from 'vitest'

it('10,000 cases of 20 kB are evaluated in a heap of 96 MB', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-many-'))
  const cases = join(folder, 'cases.jsonl')
  const file = createWriteStream(cases)
  for (let at = 0; at < 10_000; at++) {
    const input = `${at} ${'Where is my order? '.repeat(1_000)}`
    const line = JSON.stringify({ id: `case-${at}`, input, expected: 'It was sent.' })
    if (!file.write(`${line}\n`)) await once(file, 'drain')
  }
  await new Promise((resolve) => file.end(resolve))
  const root = join(import.meta.dirname, '../..')
  // Without a limit for young objects their space alone fills the heap, and the collector never rests.
  const heap = ['--max-old-space-size=96', '--max-semi-space-size=16']
  const flags = [...heap, '--conditions=@lamella/source', '--no-warnings']
  const args = [join(root, 'src/bin.ts'), join(root, 'fixtures/many.eval.ts'), '--out', folder]

  const child = spawn(process.execPath, [...flags, ...args], {
    env: { ...process.env, MANY_CASES: cases },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text))
  const [code] = await once(child, 'exit')

  expect(statSync(cases).size).toBeGreaterThan(180_000_000)
  expect([code, out]).toEqual([0, expect.stringContaining('10000 runs, 10000 cases')])
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('passed')
  rmSync(folder, { recursive: true })
})
