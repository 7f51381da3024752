import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { behavior } from '../../fixtures/support.eval.ts'
import type { RunRecord } from '../index.ts'
import { runCommand } from './command.ts'

const fixture = join(import.meta.dirname, '../../fixtures/support.eval.ts')
const baseline = join(import.meta.dirname, '../../fixtures/support.baseline.jsonl')
const good = (): string => 'It was sent on Monday.'
const careless = (): string => 'It was sent.'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(import.meta.dirname, '../../node_modules/.evals-'))
  behavior.answer = good
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
  await rm(baseline, { force: true })
})

async function run(...args: string[]) {
  let out = ''
  let err = ''
  const progress: string[] = []
  const code = await runCommand([...args, '--out', folder], {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    progress: (text) => void progress.push(text),
    env: { GITHUB_STEP_SUMMARY: join(folder, 'summary.md') },
  })
  return { code, out, err, progress }
}

const output = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

it('runs the evaluation of a file, and writes its runs, the page, JUnit and the summary', async () => {
  behavior.answer = (question) => (question.includes('order 3') ? 'Who asks?' : good())

  const { code, out, progress } = await run(fixture)

  expect(code).toBe(1)
  expect(out).toContain('support: failed\n  10 runs, 10 cases')
  expect(out).toContain('failed: case-3: includes sent: "sent" is not in the answer')
  expect(progress.at(-2)).toBe('support: 10 runs')
  const runs = (await output('support.jsonl')).trim().split('\n').slice(1)
  const records = runs.map((line): RunRecord => JSON.parse(line) as RunRecord)
  expect(
    records.filter(({ recording }) => recording !== undefined).map((each) => each.case),
  ).toEqual(['case-3'])
  expect(await output('junit.xml')).toContain('<testsuite name="support" tests="11" failures="1">')
  expect(await output('summary.md')).toContain('## support: failed')
  const page = await output('report.html')
  expect(page).toContain('&lt;b&gt;&quot;Tell&quot; me&lt;/b&gt;')
  expect(page).not.toContain('<b>"Tell"')
  expect((await stat(join(folder, 'report.html'))).mode & 0o077).toBe(0)
})

it('compares with the baseline that it was told to write', async () => {
  expect((await run(fixture, '--update')).code).toBe(0)
  behavior.answer = careless

  const { code, out } = await run(fixture)

  expect(code).toBe(1)
  expect(out).toContain('support: worse')
  expect(await output('report.html')).toContain(
    '<dt>Answer before</dt><dd>It was sent on Monday.</dd>',
  )
})

it('compares with any other runs', async () => {
  await run(fixture)
  const before = join(folder, 'before.jsonl')
  await copyFile(join(folder, 'support.jsonl'), before)
  behavior.answer = careless

  expect((await run(fixture, '--baseline', before)).out).toContain('support: worse')
})

it('runs only the cases that it is told to', async () => {
  const counts = async (...args: string[]) =>
    /(\d+) runs?/.exec((await run(fixture, ...args)).out)?.[1]

  expect([
    await counts('--only', 'first'),
    await counts('--only', 'case-7'),
    await counts('--shard', '1/3'),
    await counts('--only', 'first', '--runs', '3'),
  ]).toEqual(['2', '1', '4', '6'])
})

it('draws one conclusion from the runs of all shards', async () => {
  behavior.answer = (question) => (question.includes('order 9') ? 'Who asks?' : good())
  const shards: string[] = []
  for (const part of [1, 2, 3]) {
    await run(fixture, '--shard', `${part}/3`)
    const shard = join(folder, `shard-${part}.jsonl`)
    await copyFile(join(folder, 'support.jsonl'), shard)
    shards.push(shard)
  }

  const { code, out } = await run('report', ...shards)

  expect([code, out.split('\n')[0], out.includes('10 cases')]).toEqual([1, 'support: failed', true])
})

it('continues an evaluation that did not end, and begins a changed one anew', async () => {
  let calls = 0
  const endAt = async (last: number, ...args: string[]): Promise<string> => {
    const end = new AbortController()
    let err = ''
    calls = 0
    behavior.answer = () => {
      if (++calls === last) end.abort(new Error('killed'))
      return good()
    }
    const command = { out: () => {}, err: (text: string) => void (err += text), signal: end.signal }
    await runCommand([fixture, '--out', folder, ...args], command)
    return err
  }
  expect(await endAt(5)).toBe('lamella-evals: killed\n')
  // The process died while it wrote.
  await writeFile(join(folder, 'support.partial.jsonl'), '{"case":"case-9","ru', { flag: 'a' })

  expect(await endAt(4)).toContain('support: continues an evaluation that did not end')
  await endAt(99, '--runs', '1')
  expect(calls).toBe(10)
  await endAt(3)
  await endAt(99)
  expect(calls).toBe(8)
})

it.each([
  [['--shard', '5/4'], '--shard: expected a part and their number such as 1/4, got "5/4"'],
  [['--runs', 'many'], '--runs: expected a whole number from 1 up, got "many"'],
  [['--nothing'], "Unknown option '--nothing'"],
  [['report'], 'report needs files of runs'],
  [['report', 'none.jsonl'], 'none.jsonl: there is no such file'],
])('%j is a wrong command', async (args, message) => {
  const { code, err } = await run(...args)

  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})

it('says that a folder has no evaluation', async () => {
  await mkdir(join(folder, 'empty'))

  expect((await run(join(folder, 'empty'))).err).toContain('there is no file that ends in .eval.ts')
})
