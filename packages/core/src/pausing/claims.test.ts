import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, functionMiddleware, memoryStore, tool } from '../index.ts'
import type { KeyValueStore } from '../index.ts'
import type { Run } from '../run/run.ts'
import { Claims } from './claims.ts'
import { OpenApprovals } from './open-approvals.ts'

describe.each(runModes)('a claim of an answer, %s', (mode) => {
  /** An agent that has asked for an approval, whose next `failures` calls of the tool fail. */
  async function asked(store: KeyValueStore, failures: number) {
    let left = failures
    const ran: string[] = []
    const failing = functionMiddleware('failing', async (_, callNext) => {
      if (left-- > 0) throw new TypeError('no connection')
      await callNext()
    })
    const pay = tool({
      name: 'pay',
      description: '',
      approval: 'always',
      execute: (_, { callId }) => void ran.push(callId),
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1'), 'Paid.'])
    const agent = new Agent({ client, tools: [pay], store, middleware: failing })
    const { checkpoint, pending } = await runIn(mode, agent, {})
    const answers = { [pending[0]!.id]: true }
    const resume = () =>
      mode === 'plain'
        ? agent.resume(checkpoint!, answers)
        : agent.resume(checkpoint!, answers, { stream: true }).finalResponse()
    return { resume, ran }
  }

  it('counts where the reply of the store was lost, and is given back like any other', async () => {
    const store = memoryStore()
    const lossy: KeyValueStore = {
      ...store,
      async compareAndSet(...given) {
        const wrote = await store.compareAndSet(...given)
        if (wrote) throw new Error('connection lost')
        return wrote
      },
    }
    const { resume, ran } = await asked(lossy, 1)

    await expect(resume()).rejects.toThrow('no connection')
    await resume()

    expect(ran).toEqual(['c1'])
  })

  it('stays where the store fails to give it back, and the run fails with its own error', async () => {
    const store: KeyValueStore = {
      ...memoryStore(),
      delete: () => Promise.reject(new Error('connection lost')),
    }
    const { resume, ran } = await asked(store, 1)

    await expect(resume()).rejects.toThrow('no connection')
    await expect(resume()).rejects.toMatchObject({ code: 'approval_used' })

    expect(ran).toEqual([])
  })
})

it('a process without a store keeps the last hundred thousand claims', async () => {
  const claimsOf = (key: string) => new Claims(key, {} as Run, new OpenApprovals())
  const ids = Array.from({ length: 100_000 }, (_, at) => `limit ${at}`)
  await claimsOf('one').claim(ids)

  await expect(claimsOf('two').claim(['limit 0'])).rejects.toMatchObject({ code: 'approval_used' })
  await claimsOf('two').claim(['another'])

  await claimsOf('two').claim(['limit 0'])
})
