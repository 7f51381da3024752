// A log of an agent's actions, in which each line contains the hash of the line before. Verification detects
// changed, removed and inserted lines. Content is recorded as hashes by default.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, tool } from '@lamella/core'
import { auditLog, jsonLines, verify } from '@lamella/middleware-audit'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'audit-'))
const path = join(folder, 'audit.jsonl')
const key = 'a secret that the verifier has too'

const refund = tool({
  name: 'refund',
  description: 'Pays money back.',
  parameters: z.object({ amount: z.number() }),
  approval: 'always',
  execute: () => 'refunded',
})
const audit = auditLog({ sinks: jsonLines(path), sign: { keyId: '2026', key } })
const client = scriptedClient([callFunction('refund', { amount: 80 }), 'Done.'])
const agent = new Agent({ name: 'support', client, tools: [refund], middleware: [audit] })

const paused = await agent.run('Refund 80 to Ada Lovelace.')
await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })
await audit.close()

const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
for (const { seq, type, tool: name = '', status = '' } of records)
  console.log(seq, type, name, status)
assert.equal(
  records.map(({ type }) => type).join(' '),
  'run.start model.call approval.requested run.end ' +
    'run.start approval.decided tool.call tool.result model.call run.end',
)
assert.ok(!lines.some((line) => line.includes('Lovelace')))

const keys = { '2026': key }
assert.deepEqual(await verify(path, { keys }), { ok: true, lines: 10, head: audit.head })

// An attacker makes it look as if no approval had been requested.
writeFileSync(path, `${lines.filter((line) => !line.includes('approval')).join('\n')}\n`)
const { ok, problem } = await verify(path, { keys })
console.log(problem)
assert.deepEqual([ok, problem?.line, problem?.kind], [false, 3, 'removed'])
rmSync(folder, { recursive: true })
