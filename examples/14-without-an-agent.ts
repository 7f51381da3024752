// Chat middleware needs no agent. withMiddleware() adds it to any client, and getResponse() makes one model
// call through it, plain or streamed. An agent on such a client runs inside the same middleware.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, withMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const log: string[] = []
const count = chatMiddleware('count', async (_context, callNext) => {
  const { usage } = await callNext()
  log.push(`${usage.totalTokens} tokens`)
})
const brief = chatMiddleware('brief', async (context, callNext) => {
  context.options = { ...context.options, maxOutputTokens: 50 }
  await callNext()
})

const model = scriptedClient(['Bonjour.', 'Guten Tag.', 'Buongiorno.'])
const client = withMiddleware(model, count, brief)

const plain = await client.getResponse('Say hello in French.', { temperature: 0 })
console.log(plain.text)

const stream = client.getResponse('Say hello in German.', { stream: true })
for await (const piece of stream.text()) process.stdout.write(piece)
process.stdout.write('\n')

const response = await new Agent({ client }).run('Say hello in Italian.')
console.log(response.text, log)

assert.deepEqual(log, ['15 tokens', '15 tokens', '15 tokens'])
assert.deepEqual(
  model.requests.map(({ options }) => options.maxOutputTokens),
  [50, 50, 50],
)
assert.equal(model.requests[0]?.options.temperature, 0)
// The original client still has no middleware.
assert.deepEqual(model.middleware, [])
