import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { memorySink } from '../audit.test-helper.ts'
import { auditLog } from '../audit-log.ts'

afterEach(() => vi.restoreAllMocks())

const agentWith = (middleware: ReturnType<typeof auditLog>) =>
  new Agent({ client: scriptedClient(() => 'Done.'), middleware })

test('a sink that has the log written while it writes gets each record once', async () => {
  const sink = memorySink()
  const flushed: Promise<void>[] = []
  const log = auditLog({
    sinks: {
      name: 'eager',
      write: (entries) => {
        flushed.push(log.flush())
        return sink.write(entries)
      },
    },
  })

  await agentWith(log).run('Hello')
  await Promise.all(flushed)

  expect(sink.records.map(({ seq }) => seq)).toEqual([1, 2, 3])
})

test('a run turns each record and each hashed content into text once', async () => {
  const agent = agentWith(auditLog({ sinks: memorySink() }))
  await agent.run('Hello')
  const stringify = vi.spyOn(JSON, 'stringify')

  await agent.run('Hello')

  // Three records; the input of the run and of the model call, and the answer of both.
  expect(stringify).toHaveBeenCalledTimes(7)
})
