import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { blockedRun, richRun } from '../golden.test-helper.ts'
import { runCommand } from './command.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'picture-command-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runCommand(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  return { code, out, err }
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

it('writes the page beside the recording, and says where', async () => {
  const path = await file('run.jsonl', await richRun())

  const { code, out } = await run(path)

  expect([code, out]).toEqual([0, `${join(folder, 'run.html')}\n`])
  expect(await readFile(join(folder, 'run.html'), 'utf8')).toContain('Content-Security-Policy')
})

it('does not write full content into a folder that is served, unless it is told to', async () => {
  const path = await file('run.jsonl', await richRun())
  await mkdir(join(folder, 'public'))
  const target = join(folder, 'public', 'run.html')

  const refused = await run(path, '-o', target)
  const told = await run(path, '-o', target, '--yes')

  expect(refused.code).toBe(2)
  expect(refused.err).toContain('add --yes')
  expect(told.code).toBe(0)
})

it('prints the onion, without what could command a terminal', async () => {
  const recording = (await richRun()).replaceAll('helper', 'hel\\u001b[2Jp\\u202eer')
  const path = await file('run.jsonl', recording)

  const { out } = await run(path, '--text')

  expect(out).toContain('The model answered after 2 model calls and 2 tool calls.')
  expect(out).toMatch(/│ note +\S.*changed request/)
  expect(out).toMatch(/Tool 2: look .*tool did not run/)
  expect(out).not.toContain('\u001b')
  expect(out).not.toContain('\u202e')
})

it('shows where two runs part', async () => {
  const first = await richRun()
  const left = await file('a.jsonl', first)
  const right = await file('b.jsonl', first.replaceAll('Be brief.', 'Be long.'))

  expect(await run('diff', left, left)).toMatchObject({ code: 0, out: 'The runs do not differ.\n' })
  const { code, out } = await run('diff', left, right)

  expect(code).toBe(1)
  expect(out).toContain('The runs part at Model call 1, in its request:')
  expect(out).toContain('- user: Be brief.')
  expect(out).toContain('+ user: Be long.')
})

it('compares runs without content by their lengths, and tells of a call that one lacks', async () => {
  const path = await file('a.jsonl', await richRun())
  const other = await file('b.jsonl', await blockedRun())
  const cut = await file('c.jsonl', (await richRun()).split('\n').slice(0, 30).join('\n'))

  expect((await run('diff', path, other)).out).toContain('Model call 1')
  expect((await run('diff', path, cut)).code).toBe(1)
})

it('prints a module with a scripted client', async () => {
  const path = await file('run.jsonl', await richRun())

  const { out } = await run('replay', path)
  const written = await run('replay', path, '-o', join(folder, 'replay.ts'))

  expect(out).toContain("import { scriptedClient } from '@lamella/testing'")
  expect(out).toContain('new ProviderError("busy"')
  expect(written.code).toBe(0)
  expect(await readFile(join(folder, 'replay.ts'), 'utf8')).toBe(out)
})

it.each([
  [[], 'writes the page of a recording'],
  [['a', 'b'], 'writes the page of a recording'],
  [['diff', 'a'], 'writes the page of a recording'],
  [['none.jsonl'], 'ENOENT'],
  [['none.jsonl', '--loud'], "Unknown option '--loud'"],
  [['none.jsonl', '--live', '--port', 'x'], '--port: expected a number from 0 to 65535, got "x"'],
])('says what is wrong with %j', async (args, message) => {
  const { code, err } = await run(...args)

  expect(code).toBe(2)
  expect(err).toContain(message)
})

it('explains itself', async () => {
  const { code, out } = await run('--help')

  expect(code).toBe(0)
  expect(out).toContain('--live')
})
