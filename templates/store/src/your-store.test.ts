import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent } from '@lamella/core'
import { sessions } from '@lamella/store'
import { describeContract, scriptedClient, storeContract, testClock } from '@lamella/testing'
import { memoryDatabase, yourStore } from './index.ts'

// The contract of every store: JSON in and out, atomic increments and conditional writes, times to live.
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
    const chats = sessions(yourStore({ database: memoryDatabase() }))
    const agent = new Agent({ client: scriptedClient(['Hello Ada.', 'You are Ada.']) })
    await agent.run('I am Ada.', { session: chats.at('chat-1') })
    await agent.run('Who am I?', { session: chats.at('chat-1') })

    assert.equal((await chats.load('chat-1'))?.messages.length, 4)
  })
})
