import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const script = `
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { tracing } from './src/index.ts'
const agent = new Agent({ name: 'helper', client: scriptedClient(['Hi.']), middleware: tracing() })
const { text } = await agent.run('Hello', { runId: 'r1' })
const streamed = await agent.run('Hello', { runId: 'r2', stream: true }).finalResponse().catch(String)
console.log(text)
`
let folder: string

/** The sources, in a place where nothing else is installed than what `packages` names. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lamella-otel-'))
  cpSync(import.meta.dirname, join(folder, 'src'), { recursive: true })
  mkdirSync(join(folder, 'node_modules/@lamella'), { recursive: true })
  for (const name of ['core', 'testing']) {
    symlinkSync(join(root, 'packages', name), join(folder, 'node_modules/@lamella', name))
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'run.ts'), script)
})

afterAll(() => rmSync(folder, { recursive: true }))

function run() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@lamella/source', 'run.ts'],
    { cwd: folder, encoding: 'utf8' },
  )
  return { status, lines: stdout.trim().split('\n'), stderr }
}

it('where OpenTelemetry is not installed, debug lines are written', () => {
  const { status, lines, stderr } = run()

  expect([status, stderr.includes('Error')]).toEqual([0, false])
  expect(lines[0]).toBe('lamella invoke_agent helper start run=r1 messages=1')
  expect(lines[3]).toMatch(
    /^lamella invoke_agent helper end run=r1 messages=1 tokens=\d+ status=completed elapsedMs=\d+$/,
  )
  expect(lines).toContain('Hi.')
})

it('where it is, they are not', () => {
  mkdirSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true })
  symlinkSync(
    join(import.meta.dirname, '../node_modules/@opentelemetry/api'),
    join(folder, 'node_modules/@opentelemetry/api'),
  )

  const ran = run()
  rmSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true })

  expect(ran).toMatchObject({ status: 0, lines: ['Hi.'] })
})
