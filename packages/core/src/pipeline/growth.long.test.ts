import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { countedWork } from '../../../../tests/support/counted-work.ts'
import type { Message } from '../index.ts'
import { Agent } from '../index.ts'

test('the work of a run grows with its history, and not with the square of it', async () => {
  const workOf = (length: number): Promise<number> => {
    const input = Array.from(
      { length },
      (_, index): Message => ({
        id: `m${index}`,
        role: index % 2 === 0 ? 'user' : 'assistant',
        contents: [{ type: 'text', text: 'Hello.' }],
      }),
    )
    const agent = new Agent({ client: scriptedClient(['Hello.']) })
    return countedWork(() => agent.run(input))
  }
  await workOf(10)

  const growth = (await workOf(4000)) / (await workOf(500))

  // 64 would be the square.
  expect(growth).toBeLessThan(12)
})
