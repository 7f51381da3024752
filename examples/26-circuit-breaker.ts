// circuitBreaker() stops calls to a model that keeps failing. While the circuit is open, an outer fallback()
// uses another model; later, one call tests the first model, and the circuit closes.
import assert from 'node:assert/strict'
import { Agent, ProviderError } from '@lamella/core'
import { circuitBreaker, fallback } from '@lamella/middleware-fallback'
import { scriptedClient, testClock } from '@lamella/testing'

let isDown = true
const first = scriptedClient(
  () => (isDown ? new ProviderError('down', { kind: 'server', provider: 'first' }) : 'First here.'),
  { provider: 'first', model: 'large' },
)
const second = scriptedClient(() => 'Second here.', { provider: 'second', model: 'small' })

const clock = testClock()
const events: string[] = []
const agent = new Agent({
  client: first,
  middleware: [
    fallback({ clients: [second] }),
    circuitBreaker({
      minimum: 5,
      openMs: 30_000,
      clock,
      onEvent: ({ status, circuit }) => events.push(`${circuit} ${status}`),
    }),
  ],
})

for (let call = 0; call < 20; call++) {
  assert.equal((await agent.run('Who is there?')).text, 'Second here.')
}
assert.equal(first.requests.length, 5) // the other fifteen were not made

isDown = false
await clock.advance(30_000)
assert.equal((await agent.run('Who is there?')).text, 'First here.')

console.log([...new Set(events)])
assert.deepEqual(
  [...new Set(events)],
  ['first/large opened', 'first/large rejected', 'first/large trying', 'first/large closed'],
)
