import { scriptedClient } from '@lamella/testing'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { Agent } from '@lamella/core'
import { guardrail } from './guardrail.ts'

test('a check leaves no listener behind on the signal of its middleware', async () => {
  const listeners: number[] = []
  const judge = guardrail({
    name: 'g',
    applyTo: ['input', 'instructions', 'output'],
    check: async (_, { call }) => {
      listeners.push(getEventListeners(call.signal, 'abort').length)
      return { action: 'allow' }
    },
  })

  await new Agent({ client: scriptedClient(['The answer.']), middleware: judge }).run('Hello')

  expect(listeners).toEqual([0, 0])
})
