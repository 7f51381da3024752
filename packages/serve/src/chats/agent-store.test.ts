import { Agent, agentMiddleware, LamellaError, memoryStore } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { lastOf, refusalOf, served } from '../sse/served.test-helper.ts'
import { chatService } from './chat-service.ts'

const refund = callFunction('refund', { amount: 500 })

test("chats are in the agent's store by default", async () => {
  const store = memoryStore()
  const agent = new Agent({ client: scriptedClient([]), store })
  const { post } = served(['Hello, Ann.'], {}, { store })

  await (await post({ chat: 'c1', input: 'I am Ann.' })).text()

  const other = chatService(agent, { principal: () => 'ann' })
  const { messages } = await other.history({ principal: 'ann', chat: 'c1' })
  expect(messages).toMatchObject([{ role: 'user' }, { contents: [{ text: 'Hello, Ann.' }] }])
})

test('an approval whose run fails before any effect can be given again, and once', async () => {
  let isBusy = true
  const busy = agentMiddleware('busy', async ({ run }, callNext) => {
    if (run.session!.messages.length > 0 && isBusy)
      throw new LamellaError('not now', { code: 'rate_limited' })
    await callNext()
  })
  const { post, get, paid } = served(
    [refund, 'Done.'],
    { mayApprove: () => true },
    { middleware: [busy] },
  )
  const [, { pending }] = await lastOf(await post({ chat: 'c1', input: 'Refund me.' }))
  const answers = { [pending[0]!.id]: true }

  const failed = await post({ chat: 'c1', answers })
  const open: unknown = await (await get('?chat=c1')).json()
  isBusy = false
  const [, done] = await lastOf(await post({ chat: 'c1', answers }))
  const again = await post({ chat: 'c1', answers })

  expect(await refusalOf(failed)).toEqual([429, 'rate_limited'])
  expect(open).toMatchObject({ pending, running: false })
  expect(done).toEqual({ status: 'completed', pending: [] })
  expect(await refusalOf(again)).toEqual([409, 'approval_invalid'])
  expect(paid).toEqual([{ amount: 500 }])
})

test('an approval whose run fails after its call is used', async () => {
  const { post, paid } = served([refund, new Error('cut'), 'Done.'], { mayApprove: () => true })
  const [, { pending }] = await lastOf(await post({ chat: 'c1', input: 'Refund me.' }))
  const answers = { [pending[0]!.id]: true }

  const failed = await lastOf(await post({ chat: 'c1', answers }))
  const again = await post({ chat: 'c1', answers })

  expect(failed).toEqual(['error', { code: 'run_failed' }])
  expect(await refusalOf(again)).toEqual([409, 'approval_invalid'])
  expect(paid).toEqual([{ amount: 500 }])
})
