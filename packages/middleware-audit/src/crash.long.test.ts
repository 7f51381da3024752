import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verify } from './verify/verify.ts'

/** Audits runs, many at a time, until it is killed or has made so many rounds. */
const script = `
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { auditLog, jsonLines } from './index.ts'
const [, path, rounds] = process.argv
const log = auditLog({ sinks: jsonLines(path), capture: { input: 'full' } })
const agent = new Agent({ client: scriptedClient(() => 'Done.'), middleware: log })
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(Array.from({ length: 50 }, () => agent.run('x'.repeat(2000))))
  process.stdout.write('.')
}
await log.close()
`
const conditions = '--conditions=@lamella/source'
const args = (...more: string[]) => [conditions, '--input-type=module', '-e', script, ...more]
const cwd = import.meta.dirname

let folder: string
let path: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lamella-crash-'))
  path = join(folder, 'audit.jsonl')
})
afterAll(() => rmSync(folder, { recursive: true }))

it('a process that is killed while it writes leaves a log that verifies up to its last whole line', async () => {
  for (let time = 0; time < 3; time++) {
    const child = spawn(process.execPath, args(path, 'Infinity'), {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    // The first rounds may end before anything is written.
    await expect.poll(() => existsSync(path) && readFileSync(path).includes(10)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 30 * (time + 1)))
    child.kill('SIGKILL')
    await once(child, 'close')

    const result = await verify(path)
    const whole = readFileSync(path, 'utf8').split('\n').length - 1
    expect(result.lines).toBe(whole)
    expect(result.lines).toBeGreaterThan(0)
    expect(result.problem?.kind ?? 'incomplete').toBe('incomplete')
  }
})

it('a log that was torn in the middle of a line continues in the next process', async () => {
  const text = readFileSync(path)
  const whole = text.subarray(0, text.lastIndexOf(10) + 1)
  writeFileSync(path, Buffer.concat([whole, Buffer.from('{"agent":"helper","ch')]))
  const before = await verify(path)

  const { status } = spawnSync(process.execPath, args(path, '1'), { cwd, stdio: 'inherit' })

  expect([status, before.problem?.kind]).toEqual([0, 'incomplete'])
  const after = await verify(path)
  expect(after.ok).toBe(true)
  expect(after.lines).toBeGreaterThan(before.lines)
})

it('the command says of a log what `verify` does', () => {
  const run = () => {
    const bin = join(cwd, 'bin.ts')
    const of = spawnSync(process.execPath, [conditions, bin, 'verify', path], { encoding: 'utf8' })
    return [of.status, of.stdout.split('\n')[0]]
  }

  expect(run()).toEqual([0, expect.stringMatching(/^ok: \d+ lines verified/)])
  writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":7,', '"seq":8,'))
  expect(run()).toEqual([1, 'line 7 was altered: its hash is not that of its content'])
})
