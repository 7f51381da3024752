import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'lamella-regression-'))
const root = join(import.meta.dirname, '..')
const core = pathToFileURL(join(root, 'packages', 'core', 'src', 'index.ts')).href

afterAll(() => rmSync(folder, { recursive: true }))

it('a core that does more in each run fails the check, by every figure', () => {
  const slower = join(folder, 'index.mjs')
  writeFileSync(
    slower,
    `export * from '${core}'
    import { Agent as Released } from '${core}'
    const step = () => {}
    export class Agent extends Released {
      async run(input) {
        for (let promises = 0; promises < 8; promises++) await structuredClone(input)
        for (let blocks = 0; blocks < 100; blocks++) step()
        return super.run(input)
      }
    }`,
  )

  const { status, stderr } = run(pathToFileURL(slower).href, [
    'bench/regression.mjs',
    '--case=a tool round',
  ])

  expect(status).toBe(1)
  for (const figure of ['promises', 'blocks', 'bytes']) {
    expect(stderr).toMatch(
      new RegExp(`^a tool round .*: [\\d,.]+ ${figure}, baseline [\\d,.]+$`, 'm'),
    )
  }
})

it('every target is measured, and one that is missed fails', () => {
  const quick = ['--rounds=1', '--ms=2', '--warm=2', '--retries=0']
  const { status, stdout, stderr } = run(core, ['bench/run.mjs', '--check', ...quick])

  expect(stderr).not.toContain('bench:')
  const rows = stdout.match(/^\| [ABCLM]: .*$/gm) ?? []
  expect(rows.map((row) => row[2])).toEqual(['A', 'B', 'C', 'C', 'L', 'M'])
  expect(status).toBe(rows.some((row) => row.includes('MISSED')) ? 1 : 0)
})

function run(lamella: string, args: readonly string[]) {
  const env = { ...process.env, LAMELLA_CORE: lamella }
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env })
}
