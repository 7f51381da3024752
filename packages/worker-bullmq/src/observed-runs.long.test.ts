import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createId } from '@lamella/core'
import type { AuditRecord } from '@lamella/middleware-audit'
import { verify } from '@lamella/middleware-audit'
import { afterEach, expect, it } from 'vitest'
import type { ToldSpan } from '../fixtures/observed-worker.ts'
import { AgentQueue } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'

const fixture = fileURLToPath(new URL('../fixtures/observed-worker.ts', import.meta.url))
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Milliseconds of a lock. One that a slow machine outlasts is taken over, and the run begins once more. */
const lockMs = 10_000

async function startWorker(name: string, path: string, ...more: readonly string[]) {
  const child = fork(fixture, [redisUrl, name, path, `${lockMs}`, ...more], {
    execArgv: ['--conditions=@lamella/source', '--disable-warning=ExperimentalWarning'],
  })
  children.add(child)
  const told: (ToldSpan | string)[] = []
  child.on('message', (message: ToldSpan | string) => told.push(message))
  await once(child, 'message')
  const end = async (how: 'close' | 'kill'): Promise<void> => {
    const gone = once(child, 'exit')
    if (how === 'kill') child.kill('SIGKILL')
    else child.send('close')
    await gone
  }
  const spans = () => told.filter((one) => typeof one !== 'string')
  return { told, spans, end }
}

async function recordsIn(path: string): Promise<readonly AuditRecord[]> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as AuditRecord)
}

const typesOf = (records: readonly AuditRecord[]) =>
  records.map(({ type, status, tool }) => [type, tool, status].filter(Boolean).join(' '))

describeWithRedis('a run that goes from one worker process to another', () => {
  async function setUp() {
    const folder = await mkdtemp(join(tmpdir(), 'lamella-observed-'))
    const name = createId('observed')
    const queue = new AgentQueue({ name, connection: redisUrl })
    const { runId } = await queue.add({ agent: 'digger', input: 'Go' })
    const paths = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')] as const
    const allow = async (): Promise<void> => {
      const { pending } = await queue.result(runId)
      await queue.resume(runId, { [pending[0]!.id]: true })
    }
    const clean = async (): Promise<void> => {
      await queue.close()
      await rm(folder, { recursive: true })
    }
    return { name, queue, runId, paths, allow, clean }
  }

  it('by a pause is whole in the logs of both, and in one chain of spans', async () => {
    const { name, queue, runId, paths, allow, clean } = await setUp()
    const one = await startWorker(name, paths[0])
    await queue.result(runId)
    await one.end('close')
    const two = await startWorker(name, paths[1])
    await allow()
    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Done.' })
    await two.end('close')

    const records = await Promise.all(paths.map(recordsIn))

    expect(await Promise.all(paths.map((path) => verify(path)))).toMatchObject([
      { ok: true },
      { ok: true },
    ])
    expect(new Set(records.flat().map(({ run }) => run))).toEqual(new Set([runId]))
    expect(records.map(typesOf)).toEqual([
      [
        'run.start',
        'model.call completed',
        'tool.call dig',
        'tool.result dig completed',
        'model.call completed',
        'approval.requested pay',
        'run.end paused',
      ],
      [
        'run.start',
        'approval.decided pay',
        'tool.call pay',
        'tool.result pay completed',
        'model.call completed',
        'run.end completed',
      ],
    ])
    const [first, second] = [one, two].map(({ spans }) =>
      spans().find((span) => span.name === 'invoke_agent digger'),
    )
    expect([first, second]).toMatchObject([{ run: runId, links: [] }, { run: runId }])
    expect(second?.links).toEqual([first?.id])
    await clean()
  })

  it('by the death of its process leaves a log that holds, and is linked to what was cut off', async () => {
    const { name, queue, runId, paths, allow, clean } = await setUp()
    const one = await startWorker(name, paths[0], 'hangs')
    await expect.poll(() => one.told).toContain('digging')
    await one.end('kill')
    const two = await startWorker(name, paths[1])
    await allow()
    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Done.' })
    await two.end('close')

    const [before, after] = await Promise.all(paths.map(recordsIn))

    expect(await Promise.all(paths.map((path) => verify(path)))).toMatchObject([
      { ok: true },
      { ok: true },
    ])
    expect(typesOf(before!)).toEqual(['run.start', 'model.call completed', 'tool.call dig'])
    expect(typesOf(after!).slice(0, 3)).toEqual([
      'run.start',
      'tool.call dig',
      'tool.result dig completed',
    ])
    expect(typesOf(after!).at(-1)).toBe('run.end completed')
    const runs = two.spans().filter((span) => span.name === 'invoke_agent digger')
    expect(runs.map(({ run, links }) => [run, links.length])).toEqual([
      [runId, 1],
      [runId, 2],
    ])
    expect(runs[1]!.links).toEqual([runs[0]!.links[0], runs[0]!.id])
    await clean()
  })
})
