// The process that is killed: it audits runs, many at a time, until then.
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { auditLog } from './audit-log.ts'
import { jsonLines } from './json-lines.ts'

const [, , path, rounds = 'Infinity'] = process.argv
const log = auditLog({ sinks: jsonLines(path!), capture: { input: 'full' } })
const agent = new Agent({ client: scriptedClient(() => 'Done.'), middleware: log })
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(Array.from({ length: 50 }, () => agent.run('x'.repeat(2000))))
  process.stdout.write('.')
}
await log.close()
