import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, it, vi } from 'vitest'
import * as core from '../index.ts'

/** Loads core once more, as an application does whose packages depend on two versions. */
async function secondCopy(): Promise<typeof core> {
  vi.resetModules()
  return import('../index.ts')
}

it('an answer that a run has taken is taken for a run of another copy', async () => {
  const other = await secondCopy()
  expect(other.Agent).not.toBe(core.Agent)
  let paid = 0
  const agentOf = ({ Agent, tool }: typeof core) => {
    const execute = () => `paid ${++paid}`
    const refund = tool({ name: 'refund', description: 'Pays.', approval: 'always', execute })
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done.' : callFunction('refund'),
    )
    return new Agent({ client, tools: [refund] })
  }
  const { checkpoint, pending } = await agentOf(core).run('Refund it.')
  const answers = { [pending[0]!.id]: true }

  const ends = await Promise.allSettled(
    [core, other].map((copy) => agentOf(copy).resume(checkpoint!, answers)),
  )

  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(paid).toBe(1)
})
