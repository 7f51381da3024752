import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterAll, expect, it } from 'vitest'
import { auditLog } from '../audit-log.ts'
import { verify } from '../verify/verify.ts'
import { lockFile } from './file-lock.ts'
import { jsonLines } from './json-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'lamella-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))

const holder = (pid: number, host = hostname()) => JSON.stringify({ host, pid, process: 'other' })

it('a second log on a file is refused, until the first one is closed', async () => {
  const path = join(folder, 'two.jsonl')
  const make = () => {
    const codes: unknown[] = []
    const onEvent = ({ error }: { error?: unknown }) =>
      codes.push((error as { code?: unknown }).code)
    const log = auditLog({ sinks: jsonLines(path), onError: 'closed', onEvent })
    return {
      log,
      codes,
      agent: new Agent({ client: scriptedClient(() => 'Hi.'), middleware: log }),
    }
  }
  const first = make()
  const second = make()

  await first.agent.run('One')
  await expect(second.agent.run('Two')).rejects.toMatchObject({ code: 'audit_failed' })
  expect(new Set(second.codes)).toEqual(new Set(['audit_conflict']))
  await first.log.close()
  await second.agent.run('Three')
  await second.log.close()

  expect(existsSync(`${path}.lock`)).toBe(false)
  expect((await verify(path)).ok).toBe(true)
})

it('two logs that write to a file at once lose no record: the second one rejects its close', async () => {
  const path = join(folder, 'at-once.jsonl')
  const logs = Array.from({ length: 2 }, () =>
    auditLog({ sinks: jsonLines(path), batchDelayMs: 1, onEvent: () => {} }),
  )
  const agents = logs.map(
    (log) => new Agent({ client: scriptedClient(() => 'Hi.'), middleware: log }),
  )

  await Promise.all(agents.flatMap((agent) => [agent.run('One'), agent.run('Two')]))
  const closed = await Promise.allSettled(logs.map((log) => log.close()))

  const errors = closed.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  expect(errors).toMatchObject([{ code: 'audit_failed', cause: { code: 'audit_conflict' } }])
  expect(await verify(path)).toMatchObject({ ok: true, lines: 6 })
  await logs[closed.findIndex(({ status }) => status === 'rejected')]!.close()
  expect(await verify(path)).toMatchObject({ ok: true, lines: 12 })
})

it('of many that ask for a lock at once, one gets it, also where it was left', async () => {
  const path = join(folder, 'many.jsonl')
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  writeFileSync(`${path}.lock`, holder(child.pid!))

  const found = await Promise.allSettled(Array.from({ length: 20 }, () => lockFile(path)))

  expect(found.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

it('a lock of a process that runs, of another machine or without form is not taken over', async () => {
  const path = join(folder, 'kept.jsonl')

  for (const text of [holder(process.ppid), holder(999_999_999, 'elsewhere'), '', '{', 'null']) {
    writeFileSync(`${path}.lock`, text)
    await expect(lockFile(path)).rejects.toMatchObject({ code: 'audit_conflict' })
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text)
  }
})

it('a lock that has named no holder for a while is taken over', async () => {
  const path = join(folder, 'empty.jsonl')

  for (const text of ['', '{', 'null']) {
    writeFileSync(`${path}.lock`, text)
    const before = Date.now() / 1000 - 11
    utimesSync(`${path}.lock`, before, before)
    const lock = await lockFile(path)
    await lock.release()
    expect(existsSync(`${path}.lock`)).toBe(false)
  }
})

it('a lock that an earlier process of the same number left is taken over, and released', async () => {
  const path = join(folder, 'same.jsonl')
  writeFileSync(`${path}.lock`, holder(process.pid))

  const lock = await lockFile(path)
  await lock.release()

  expect(existsSync(`${path}.lock`)).toBe(false)
})
