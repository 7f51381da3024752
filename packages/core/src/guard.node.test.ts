import { scriptedClient } from '@lamella/testing'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { guardrail } from './guardrail.ts'
import { Agent } from './index.ts'

test('a check leaves no listener behind on the signal of its layer', async () => {
  const listeners: number[] = []
  const middleware = guardrail({
    name: 'g',
    applyTo: ['input', 'instructions', 'output'],
    check: async (_, { layer }) => {
      listeners.push(getEventListeners(layer.signal, 'abort').length)
      return { action: 'allow' }
    },
  })

  await new Agent({ client: scriptedClient(['The answer.']), middleware }).run('Hello')

  expect(listeners).toEqual([0, 0])
})
