import { Agent, jsonSchema, tool } from '@lamella/core'
import { auditLog } from '@lamella/middleware-audit'
import { recorder } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedJson, jsonChanges } from '../../../../tests/support/changed-json.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { casesFromAudit, casesFromLines, casesFromRecordings } from '../index.ts'

/** Lines of a recording, of a log and of a list of cases, of one run. */
async function records(): Promise<Readonly<Record<string, readonly string[]>>> {
  let recording = ''
  const log: string[] = []
  const record = recorder({
    sink: { write: (lines) => void (recording += lines) },
    capture: 'full',
  })
  const full = { input: 'full', output: 'full', arguments: 'full', results: 'full' } as const
  const audit = auditLog({
    sinks: (lines) => void log.push(...lines.map((line) => JSON.stringify(line))),
    capture: full,
  })
  const look = tool({
    name: 'look',
    description: 'Looks up an order.',
    parameters: jsonSchema({ type: 'object', properties: { id: { type: 'number' } } }),
    execute: ({ id }) => ({ order: id, state: 'sent' }),
  })
  const client = scriptedClient([[callFunction('look', { id: 7 })], 'Order 7 was sent.'])
  const middleware = [record.middleware(), audit]
  await new Agent({ client, tools: [look], middleware }).run('Where is order 7?')
  await Promise.all([record.flush(), audit.flush()])
  const given = {
    id: 'a',
    input: 'Hi',
    expected: 'Ho',
    tags: ['x'],
    toolResults: [{ name: 'look' }],
  }
  return { recording: recording.trim().split('\n'), log, cases: [JSON.stringify(given)] }
}

const readers: Readonly<Record<string, (lines: readonly string[]) => Promise<unknown>>> = {
  recording: (lines) => casesFromRecordings([lines.join('\n')]),
  log: (lines) => casesFromAudit(lines),
  cases: async (lines) => {
    const cases = []
    for await (const each of casesFromLines(lines)) cases.push(each)
    return { cases }
  },
}

test('changed recordings, logs and lines become cases, or say what is wrong with them', async () => {
  const given = await records()
  const kinds = Object.keys(readers)
  expect(kinds.map((kind) => given[kind]!.length > 0)).toEqual(kinds.map(() => true))

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...kinds),
      fc.nat(1000),
      jsonChanges,
      async (kind, place, changes) => {
        const lines = given[kind]!
        const changed = lines.map((line, at) =>
          at === place % lines.length
            ? JSON.stringify(changedJson(JSON.parse(line), changes))
            : line,
        )

        const end = await readers[kind]!(changed).then(
          () => 'cases',
          (error: unknown) => String(error),
        )

        expect(end).toMatch(/^(?:cases$|\w+: (?:line 1|replayOf): )/s)
      },
    ),
    { numRuns: runs(2_000) },
  )
})
