// The five ways to leave a middleware, and their effects on the run and on the code of an outer middleware after its
// `callNext()`. An inner failure skips that code; code that must always run belongs in `finally`.
import assert from 'node:assert/strict'
import type { AgentMiddleware } from '@lamella/core'
import { Agent, agentMiddleware, LamellaError, MiddlewareTermination } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const seen: string[] = []
const outer = agentMiddleware('outer', async (_, callNext) => {
  try {
    await callNext()
    seen.push('after')
  } finally {
    seen.push('finally')
  }
})

async function leave(process: AgentMiddleware['process']): Promise<string> {
  seen.length = 0
  const agent = new Agent({
    client: scriptedClient(['The answer.']),
    middleware: [outer, agentMiddleware('leaving', process)],
  })
  const end = await agent.run('Hello').then(
    ({ status, text }) => `${status}: ${text}`,
    (error: unknown) =>
      LamellaError.is(error) ? `fails: ${error.code}` : `fails: ${String(error)}`,
  )
  const line = `${end} (${seen.join(', ')})`
  console.log(line)
  return line
}

const ways = [
  await leave((_, callNext) => callNext()),
  await leave((context) => void (context.result = 'From a cache.')),
  await leave(() => {
    throw new MiddlewareTermination('enough', { result: 'Enough for today.' })
  }),
  await leave(() => {
    throw new Error('the disk is full')
  }),
  await leave(() => {}), // neither a result nor `callNext()`: a mistake, which names the middleware
]
assert.deepEqual(ways, [
  'completed: The answer. (after, finally)',
  'completed: From a cache. (after, finally)',
  'terminated: Enough for today. (finally)',
  'fails: Error: the disk is full (finally)',
  'fails: middleware_contract (finally)',
])
