import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent } from '@lamella/core'
import { describeContract, middlewareContract, scriptedClient, testClock } from '@lamella/testing'
import type { YourMiddlewareEvent } from './index.ts'
import { yourMiddleware } from './index.ts'

// The contract of every middleware: it rethrows terminations, stops on aborts, treats streams the same …
describeContract(middlewareContract({ create: ({ clock }) => yourMiddleware({ clock }) }), {
  describe,
  it,
})

describe('yourMiddleware', () => {
  for (const stream of [false, true]) {
    it(`reports how long a call took, ${stream ? 'streamed' : 'plain'}`, async () => {
      const clock = testClock()
      const events: YourMiddlewareEvent[] = []
      const slow = async () => {
        await clock.advance(30)
        return 'Hi.'
      }
      const agent = new Agent({
        client: scriptedClient([slow]),
        middleware: yourMiddleware({ slowMs: 20, clock, onEvent: (event) => events.push(event) }),
      })

      if (stream) await agent.run('Hello', { stream }).finalResponse()
      else await agent.run('Hello')

      assert.deepEqual(events, [{ iteration: 0, elapsedMs: 30, slow: true }])
    })
  }

  it('names an invalid option and its value', () => {
    assert.throws(() => yourMiddleware({ slowMs: -1 }), /`slowMs`.*-1/)
    assert.throws(() => yourMiddleware({ slow: 1 } as never), /`slow`; did you mean `slowMs`/)
  })
})
