// A second callNext() runs all inner middleware again, so a retry is a loop around it. It reads only
// the provider's error and works with any provider. In this example, a real server fails twice.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, chatMiddleware, isProviderError } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'

const maxRetries = 2

const retry = chatMiddleware('retry', async (context, callNext) => {
  // Only one owner of retries: this turns off those of the provider's SDK.
  context.options = { ...context.options, transportRetries: 0 }
  for (let attempt = 1; ; attempt++) {
    try {
      await callNext()
      return
    } catch (error) {
      if (!isProviderError(error) || !error.retry.retryable || attempt > maxRetries) throw error
      // The caller has seen content: a retry would restart the answer on the screen.
      if (context.released) throw error
      const delayMs = error.retry.afterMs ?? 10 * 2 ** attempt
      console.log(`${error.message}: again in ${delayMs} ms`)
      context.run.recordAttempt({ status: 'failed', reason: error.kind, delayMs })
      await delay(delayMs, undefined, { signal: context.signal })
    }
  }
})

await using server = await startModelServer({
  failures: [{ status: 503 }, { status: 429, headers: { 'retry-after-ms': '30' } }],
})
const client = new OpenAIChatCompletionsClient({
  baseURL: server.baseURL,
  model: 'lamella-stand-in',
})
const agent = new Agent({ client, middleware: [retry] })
const response = await agent.run('Hello!')

console.log(response.text)
console.log(response.attempts)
assert.equal(response.status, 'completed')
assert.equal(server.requests.length, 3)
assert.deepEqual(
  response.attempts.map(({ reason }) => reason),
  ['overloaded', 'rate_limit'],
)
assert.equal(response.attempts[1]?.delayMs, 30)
