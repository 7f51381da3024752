// An agent on a queue: one worker runs it, another one resumes it after a pause, and a subscriber reads the
// answer while it is generated. Needs a Redis, at REDIS_URL or on this machine.
import assert from 'node:assert/strict'
import { Agent, createId, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { AgentQueue, AgentWorker } from '@lamella/worker-bullmq'
import { Redis } from 'ioredis'

const connection = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
const probe = new Redis(connection, { lazyConnect: true, retryStrategy: () => null })
const hasRedis = await probe
  .on('error', () => {})
  .connect()
  .then(
    () => true,
    () => false,
  )
probe.disconnect()
if (!hasRedis) {
  assert.notEqual(process.env['CI'], 'true', `there is no Redis at ${connection}`)
  console.log(`SKIPPED: there is no Redis at ${connection}; set REDIS_URL`)
  process.exit(0)
}

const name = createId('example')
const deploy = tool({
  name: 'deploy',
  description: 'Deploys the site.',
  approval: 'always',
  execute: () => 'deployed',
})
const agentThat = (steps: Parameters<typeof scriptedClient>[0]): Agent =>
  new Agent({ client: scriptedClient(steps), tools: [deploy] })

await using queue = new AgentQueue({ name, connection })
const first = agentThat([callFunction('deploy')])
const today = new AgentWorker({ name, connection, agents: { operator: first } })
const { runId } = await queue.add({ agent: 'operator', input: 'Deploy the site.' })
const paused = await queue.result(runId)
console.log(`${paused.event}: ${paused.pending[0]?.kind}`)
await today.close()

await queue.resume(runId, { [paused.pending[0]!.id]: true })
const second = agentThat([{ updates: ['The site ', 'is up.', { finishReason: 'stop' }] }])
await using _ = new AgentWorker({ name, connection, agents: { operator: second } })
for await (const message of queue.subscribe(runId)) {
  if (message.kind === 'outcome') {
    console.log(message.outcome.event, message.outcome.status)
    assert.equal(message.outcome.status, 'completed')
  } else {
    for (const part of message.update.contents) if (part.type === 'text') console.log(part.text)
  }
}
