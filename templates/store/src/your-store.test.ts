import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent, createSession, sessionStore } from '@lamella/core'
import { describeContract, scriptedClient, storeContract, testClock } from '@lamella/testing'
import { memoryDatabase, yourStore } from './index.ts'

// What every store keeps: JSON in and out, additions and conditional writes in one step, times to live.
describeContract(
  storeContract({
    create() {
      const clock = testClock()
      return {
        store: yourStore({ database: memoryDatabase(), clock }),
        advance: (ms) => clock.advance(ms),
      }
    },
  }),
  { describe, it },
)

describe('yourStore', () => {
  it('keeps sessions', async () => {
    const sessions = sessionStore(yourStore({ database: memoryDatabase() }))
    const agent = new Agent({ client: scriptedClient(['Hello Ada.', 'You are Ada.']) })
    const session = agent.createSession()
    await agent.run('I am Ada.', { session })
    await sessions.save(session.toJSON())

    const again = createSession(await sessions.load(session.id))
    await agent.run('Who am I?', { session: again })

    assert.equal(again.messages.length, 4)
  })
})
