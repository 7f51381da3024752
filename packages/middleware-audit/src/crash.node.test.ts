import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from './verify.ts'

let folder: string
let path: string
let script: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lamella-crash-'))
  path = join(folder, 'audit.jsonl')
  script = join(import.meta.dirname, 'writes-until-killed.test-helper.ts')
})
afterAll(() => rmSync(folder, { recursive: true }))

const args = (...more: string[]) => ['--conditions=@lamella/source', script, path, ...more]

it('a process that is killed while it writes leaves a log that verifies up to its last whole line', async () => {
  for (let time = 0; time < 3; time++) {
    const child = spawn(process.execPath, args(), { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, 30 * (time + 1)))
    child.kill('SIGKILL')
    await once(child, 'close')

    const result = await verify(path)
    const whole = readFileSync(path, 'utf8').split('\n').length - 1
    expect(result.lines).toBe(whole)
    expect(result.lines).toBeGreaterThan(0)
    expect(result.problem?.kind ?? 'incomplete').toBe('incomplete')
  }
}, 30_000)

it('a log that was torn in the middle of a line goes on with the next process', async () => {
  const text = readFileSync(path)
  const end = text.lastIndexOf(10) + 1
  writeFileSync(path, Buffer.concat([text.subarray(0, end), Buffer.from('{"agent":"helper","ch')]))
  const before = await verify(path)

  spawnSync(process.execPath, args('1'), { stdio: 'inherit' })

  expect(before.problem?.kind).toBe('incomplete')
  const after = await verify(path)
  expect(after.ok).toBe(true)
  expect(after.lines).toBeGreaterThan(before.lines)
})
