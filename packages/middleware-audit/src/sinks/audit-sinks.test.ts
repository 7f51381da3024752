import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Agent, outcomeOf, tool } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytes, memorySink } from '../audit.test-helper.ts'
import { auditLog } from '../audit-log.ts'
import type { AuditEvent, AuditLogOptions } from '../run/audit-options.ts'
import type { AuditRecord } from '../record/audit-record.ts'
import { toLogger } from './audit-sink.ts'
import { jsonLines } from './json-lines.ts'
import { verify } from '../verify/verify.ts'

const agentWith = (log: ReturnType<typeof auditLog>, tools = [] as ReturnType<typeof tool>[]) =>
  new Agent({
    client: scriptedClient(({ messages }) =>
      tools.length > 0 && messages.length === 1 ? callFunction('act') : 'Done.',
    ),
    tools,
    middleware: log,
  })
const task = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a file of JSON lines', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lamella-audit-'))
    path = join(folder, 'audit.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('holds every record once the run has ended, and is readable by its owner alone', async () => {
    const log = auditLog({ sinks: jsonLines(path, { fsync: true }) })

    await agentWith(log).run('Hello')

    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4)
    expect(await verify(path)).toEqual({ ok: true, lines: 3, head: log.head })
    await log.close()
  })

  it('continues its chain in another process', async () => {
    for (let process = 0; process < 3; process++) {
      const log = auditLog({ sinks: jsonLines(path) })
      await agentWith(log).run('Hello')
      await log.close()
    }

    expect(await verify(path)).toMatchObject({ ok: true, lines: 9, head: { seq: 9 } })
  })

  it('continues after it was closed', async () => {
    const log = auditLog({ sinks: jsonLines(path) })
    await agentWith(log).run('Hello')
    await log.close()
    await agentWith(log).run('Hello')
    await log.close()

    expect(await verify(path)).toEqual({ ok: true, lines: 6, head: log.head })
  })

  it('loses a line that a crash has left torn, and says so', async () => {
    const first = auditLog({ sinks: jsonLines(path) })
    await agentWith(first).run('Hello')
    await first.close()
    const torn = `{"agent":"é","chain":`
    await appendFile(path, torn)

    const second = auditLog({ sinks: jsonLines(path) })
    await agentWith(second).run('Hello')
    await second.close()

    expect(await verify(path)).toMatchObject({ ok: true, lines: 7 })
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    expect(JSON.parse(lines[3]!)).toMatchObject({
      type: 'log.recovered',
      torn: { bytes: Buffer.from(torn).length },
    })
  })

  it('finds the end of a file whose last line is long', async () => {
    const log = auditLog({ sinks: jsonLines(path), capture: { input: 'full' } })
    const agent = agentWith(log)
    await agent.run('x'.repeat(200_000))
    await log.close()
    const again = auditLog({ sinks: jsonLines(path) })
    await agentWith(again).run('Hello')
    await again.close()

    expect(await verify(path)).toMatchObject({ ok: true, lines: 6 })
  })

  it('notices that somebody else writes it', async () => {
    const events: AuditEvent[] = []
    const log = auditLog({ sinks: jsonLines(path), onEvent: (event) => events.push(event) })
    await agentWith(log).run('Hello')
    await appendFile(path, '{}\n')

    const { status } = await agentWith(log).run('Hello')

    expect(status).toBe('completed')
    expect(events[0]).toMatchObject({ status: 'failed', sink: path, waiting: 3 })
    expect(String(events[0]?.error)).toContain('another process writes it')
    await expect(log.close()).rejects.toMatchObject({ code: 'audit_failed' })
    truncateSync(path, statSync(path).size - 3)
    await log.close()
    expect(await verify(path)).toMatchObject({ ok: true, lines: 6 })
  })

  it('is not continued if its last line is no record', async () => {
    writeFileSync(path, '{"something":"else"}\n')
    const events: AuditEvent[] = []
    const log = auditLog({ sinks: jsonLines(path), onEvent: (event) => events.push(event) })

    await agentWith(log).run('Hello')

    expect(events[0]?.error).toMatchObject({ code: 'audit_invalid' })
    expect(readFileSync(path, 'utf8')).toBe('{"something":"else"}\n')
  })
})

describe('other sinks', () => {
  it('pino writes records that can be verified among other lines', async () => {
    const stream = new PassThrough()
    const logger = pino({}, stream)
    const log = auditLog({ sinks: toLogger(logger) })

    logger.info('something else')
    await agentWith(log).run('Hello')
    logger.info({ audited: false }, 'something else')
    stream.end()

    const text = String(await stream.toArray().then((chunks) => Buffer.concat(chunks as Buffer[])))
    expect(await verify(bytes(text), { field: 'audit' })).toMatchObject({ ok: true, lines: 3 })
    const changed = text.replace('"messages":1', '"messages":2')
    expect(await verify(bytes(changed), { field: 'audit' })).toMatchObject({
      ok: false,
      problem: { line: 2, kind: 'altered' },
    })
  })

  it('a function gets the records, and several sinks all get them', async () => {
    const records: AuditRecord[] = []
    const memory = memorySink()
    const log = auditLog({ sinks: [(batch) => void records.push(...batch), memory] })

    await agentWith(log).run('Hello')

    expect(records.map(({ type }) => type)).toEqual(['run.start', 'model.call', 'run.end'])
    expect(memory.records).toEqual(records)
  })
})

describe.each(runModes)('delivery, %s', (mode) => {
  const act = tool({ name: 'act', description: 'Acts.', execute: () => 'acted' })

  it('writes in batches, and all of it by the end of the run', async () => {
    const sink = memorySink()

    await runIn(mode, agentWith(auditLog({ sinks: sink, batchSize: 4 }), [act]))

    expect(sink.batches.reduce((sum, size) => sum + size)).toBe(6)
    expect(sink.batches.length).toBeLessThan(4)
  })

  it('writes a batch after a while, also in the middle of a run', async () => {
    const clock = testClock()
    const sink = memorySink()
    const slow = tool({
      name: 'act',
      description: 'Acts.',
      execute: async () => {
        await clock.advance(400)
        return sink.records.length
      },
    })

    await runIn(mode, agentWith(auditLog({ sinks: sink, clock, batchDelayMs: 300 }), [slow]))

    expect(sink.batches[0]).toBe(3)
  })

  it('waits for each record where that was chosen: before a tool has any effect', async () => {
    const sink = memorySink()
    const seen: string[][] = []
    const watching = tool({
      name: 'act',
      description: 'Acts.',
      execute: () => void seen.push(sink.records.map(({ type }) => type)),
    })

    await runIn(mode, agentWith(auditLog({ sinks: sink, delivery: 'await' }), [watching]))

    expect(seen).toEqual([['run.start', 'model.call', 'tool.call']])
  })

  it('makes runs wait while too much waits to be written', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const written: number[] = []
    const sink = async (records: readonly unknown[]) => {
      await held
      written.push(records.length)
    }
    const log = auditLog({ sinks: sink, maxQueued: 2, waitMs: 60_000 })
    let acted = false
    const watching = tool({ name: 'act', description: 'Acts.', execute: () => void (acted = true) })

    const run = runIn(mode, agentWith(log, [watching]))
    for (let turn = 0; turn < 20; turn++) await task()
    const actedBefore = acted
    release()
    await run

    expect([actedBefore, acted]).toEqual([false, true])
    expect(written.reduce((sum, size) => sum + size)).toBe(6)
  })

  it('makes a run wait for its own records, while those of others keep coming', async () => {
    const log = auditLog({ sinks: task, batchSize: 1 })
    const agent = agentWith(log)
    const over = new AbortController()
    const first = runIn(mode, agent).then(() => over.abort())

    const others: Promise<unknown>[] = []
    while (!over.signal.aborted && others.length < 300) {
      others.push(runIn(mode, agent))
      await task()
    }
    await Promise.all([first, ...others])

    expect(others.length).toBeLessThan(100)
  })

  it('hands what remains to the platform, where that was chosen', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const sink = memorySink()
    const remaining: Promise<void>[] = []
    const log = auditLog({
      sinks: async (records) => {
        await held
        sink.records.push(...records)
      },
      waitUntil: (written) => remaining.push(written),
    })

    const { status } = await runIn(mode, agentWith(log))
    const before = sink.records.length
    release()
    await Promise.all(remaining)

    expect([status, before, sink.records.length]).toEqual(['completed', 0, 3])
  })
})

describe.each(runModes)('a sink that fails, %s', (mode) => {
  const trial = async (options: Partial<AuditLogOptions>, failures: number) => {
    const sink = memorySink()
    const events: AuditEvent[] = []
    let left = failures
    const clock = testClock()
    const log = auditLog({
      sinks: (records) => {
        if (left-- > 0) throw new Error('disk full')
        sink.records.push(...records)
      },
      clock,
      onEvent: (event) => events.push(event),
      ...options,
    })
    const run = () =>
      runIn(mode, agentWith(log)).then(
        ({ status }) => status,
        (error: unknown) => error,
      )
    return { sink, events, log, run }
  }

  it('does not stop a run, and gets all of it later, in its order', async () => {
    const { sink, events, run } = await trial({}, 1)

    expect(await run()).toBe('completed')
    expect(sink.records).toEqual([])
    expect(await run()).toBe('completed')
    expect(sink.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    expect(events).toMatchObject([{ status: 'failed', sink: 'function', waiting: 3 }])
  })

  it('makes the run fail where failures close, before a tool is called', async () => {
    const { events, run } = await trial({ onError: 'closed' }, Infinity)

    const error = await run()

    expect(error).toMatchObject({ code: 'audit_failed', cause: new Error('disk full') })
    expect(outcomeOf(error)?.status).toBe('failed')
    expect(events.length).toBeGreaterThan(0)
  })

  it('loses records once too many wait, and says so', async () => {
    const { sink, events, run, log } = await trial({ maxQueued: 4 }, 3)

    for (let time = 0; time < 4; time++) expect(await run()).toBe('completed')
    await log.flush()

    const dropped = events.filter(({ status }) => status === 'dropped')
    expect(dropped.length).toBeGreaterThan(0)
    expect(sink.records.map(({ seq }) => seq)).toEqual(sink.records.map((_, index) => index + 1))
  })

  it('that never answers holds a run no longer than was said', async () => {
    const clock = testClock()
    const events: AuditEvent[] = []
    const options = { sinks: () => new Promise<void>(() => {}), clock, waitMs: 500 }
    const log = auditLog({ ...options, onEvent: (event) => events.push(event) })

    const run = runIn(mode, agentWith(log))
    for (let turn = 0; turn < 20; turn++) await task()
    await clock.advance(500)

    expect((await run).status).toBe('completed')
    expect(events).toMatchObject([{ status: 'late', waiting: 3 }])
  })

  it('that never answers does not hold a run that is aborted', async () => {
    const controller = new AbortController()
    const log = auditLog({ sinks: () => new Promise<void>(() => {}), clock: testClock() })

    const run = runIn(mode, agentWith(log), { signal: controller.signal })
    for (let turn = 0; turn < 20; turn++) await task()
    controller.abort(new Error('gone'))

    await expect(run).rejects.toThrow('gone')
  })
})

it('what cannot be recorded does not stop a run, unless failures close', async () => {
  const broken = {
    sinks: memorySink(),
    subject: () => {
      throw new Error('who?')
    },
  }
  const open = agentWith(auditLog(broken))
  const closed = agentWith(auditLog({ ...broken, onError: 'closed' }))

  expect((await open.run('Hello')).status).toBe('completed')
  await expect(closed.run('Hello')).rejects.toMatchObject({ code: 'audit_failed' })
})

it('a run that fails keeps its own error, whatever recording comes to', async () => {
  const mine = new Error('mine')
  let healthy = true
  const log = auditLog({
    sinks: () => {
      if (!healthy) throw new Error('disk full')
    },
    onError: 'closed',
  })
  const client = scriptedClient(() => {
    healthy = false
    throw mine
  })

  await expect(new Agent({ client, middleware: log }).run('Hello')).rejects.toBe(mine)
})
