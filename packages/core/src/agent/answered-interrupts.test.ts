import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { Agent, agentMiddleware, createSession, memoryStore, messageText, tool } from '../index.ts'

/** An agent that pays once somebody has said how much, and the payments. */
function paying() {
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    async execute(_args, { run }) {
      paid.push(await run.interrupt('How much?'))
      return 'paid'
    },
  })
  const client = scriptedClient([callFunction('pay'), 'Done.', 'Hello again.'])
  const agent = new Agent({ client, tools: [pay], store: memoryStore() })
  return { agent, client, paid }
}

describe.each(runModes)('an interrupt of a session, %s', (mode) => {
  test('is answered by a run of the session, also of another process', async () => {
    const { agent, paid } = paying()
    const first = createSession()
    const { pending } = await runIn(mode, agent, { input: 'Pay.', session: first })
    const session = createSession(JSON.parse(JSON.stringify(first)))

    const answers = { [pending[0]!.id]: 5 }
    const { status } = await runIn(mode, agent, { input: [], session, answers })

    expect(status).toBe('completed')
    expect(paid).toEqual([5])
    expect(session.messages.map(messageText)).toEqual(['Pay.', '', '', 'Done.'])
    expect(session.paused).toBeUndefined()
    const again = runIn(mode, agent, { input: [], session: first, answers })
    await expect(again).rejects.toMatchObject({ code: 'approval_used' })
    expect(paid).toEqual([5])
  })

  test('asks again for what has no answer yet', async () => {
    let asked = 0
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      asked = (await Promise.all([run.interrupt('Who?'), run.interrupt('Why?')])).length
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Hello.']), middleware: ask })
    const session = createSession()
    const open = [(await runIn(mode, agent, { input: 'Hi', session })).pending]
    for (const _ of [1, 2]) {
      const answers = Object.fromEntries(
        open
          .at(-1)!
          .slice(0, 1)
          .map(({ id }) => [id, 'x']),
      )
      // oxlint-disable-next-line no-await-in-loop
      open.push((await runIn(mode, agent, { input: [], session, answers })).pending)
    }

    expect(open.map((pending) => pending.length)).toEqual([2, 1, 0])
    expect(asked).toBe(2)
  })

  test('takes no new input with its answer, and waits while other runs come and go', async () => {
    const { agent, client, paid } = paying()
    const session = createSession()
    const { pending } = await runIn(mode, agent, { input: 'Pay.', session })
    const answers = { [pending[0]!.id]: 5 }

    const mixed = runIn(mode, agent, { input: 'And hurry.', session, answers })
    await expect(mixed).rejects.toThrow(
      'run: an answer to an interrupt continues its run without input; pass `[]`',
    )
    await runIn(mode, agent, { input: 'Are you there?', session })
    const { status } = await runIn(mode, agent, { input: [], session, answers })

    expect(status).toBe('completed')
    expect(paid).toEqual([5])
    expect(client.requests).toHaveLength(3)
  })
})
