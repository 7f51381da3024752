import { memoryStore } from '@lamella/core'
import { callFunction } from '@lamella/testing'
import { expect, it } from 'vitest'
import { lastOf, refusalOf, served } from '../sse/served.test-helper.ts'

it('one user cannot push out the chats and requests of another', async () => {
  const store = memoryStore({ maxEntries: 60 })
  const script = ({ messages }: { messages: readonly { role: string }[] }) =>
    messages.length > 1 ? 'Hello.' : [callFunction('refund', { amount: 5 }, 'c1')]
  const { post, service } = served(script, { store, maxChats: 5 })
  const ann = { principal: 'ann', chat: 'c' }
  await (await post({ chat: 'c', input: 'Refund' })).text()

  for (let at = 0; at < 60; at++) {
    // oxlint-disable-next-line no-await-in-loop
    await (await post({ chat: `b${at}`, input: 'Refund' }, { 'x-user': 'bob' })).text()
  }

  const { messages, pending } = await service.history(ann)
  expect([messages.length > 0, pending.length]).toEqual([true, 1])
  const { sessions } = await service.list('bob')
  expect(sessions.map(({ id }) => id)).toEqual(['b59', 'b58', 'b57', 'b56', 'b55'])
})

it('one user has no more runs at a time than the limit, others have theirs', async () => {
  const slow = { updates: ['Hel'], hang: true as const }
  const { post, remove } = served(() => slow, { maxRuns: 2 })
  const first = [await post({ chat: '1', input: 'Hi' }), await post({ chat: '2', input: 'Hi' })]

  const third = await post({ chat: '3', input: 'Hi' })
  const other = await post({ chat: '1', input: 'Hi' }, { 'x-user': 'bob' })

  expect(third.headers.get('retry-after')).toBe('1')
  expect(await refusalOf(third)).toEqual([429, 'too_many_runs'])
  expect(other.status).toBe(200)
  await Promise.all(['1', '2'].map((chat) => remove(`?chat=${chat}&run`)))
  await remove('?chat=1&run', 'bob')
  for (const response of [...first, other]) expect((await lastOf(response))[0]).toBe('done')
  const again = await post({ chat: '3', input: 'Hi' })
  expect(again.status).toBe(200)
  await again.body!.cancel()
})
