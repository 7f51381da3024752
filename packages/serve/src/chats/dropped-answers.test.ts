import { memoryStore } from '@lamella/core'
import { callFunction } from '@lamella/testing'
import { expect, test } from 'vitest'
import { lastOf, refusalOf, served } from '../sse/served.test-helper.ts'

const pay = callFunction('refund', { amount: 5 })
const requestOf = async (response: Response): Promise<string> =>
  (await lastOf(response))[1].pending.at(-1)!.id

test('an answer that is dropped closes its requests, and other requests stay open', async () => {
  const { post, get, paid } = served([pay, pay, pay, 'Done.', 'Done.'], { mayApprove: () => true })
  const kept = await requestOf(await post({ chat: 'c1', input: 'Pay 5.' }))
  const dropped = await requestOf(await post({ chat: 'c1', input: 'Pay 5 more.' }))

  const current = await requestOf(await post({ chat: 'c1', again: 2 }))
  const history = (await (await get('?chat=c1')).json()) as { pending: { id: string }[] }
  const refused = await post({ chat: 'c1', answers: { [dropped]: true } })
  await (await post({ chat: 'c1', answers: { [current]: true } })).text()
  await (await post({ chat: 'c1', answers: { [kept]: true } })).text()

  expect(history.pending.map(({ id }) => id)).toEqual([kept, current])
  expect(await refusalOf(refused)).toEqual([409, 'approval_invalid'])
  expect(paid).toEqual([{ amount: 5 }, { amount: 5 }])
})

test.each(['this process', 'another process'])(
  'a chat that is deleted in %s during its first run stays deleted and cannot be read',
  async (place) => {
    const store = memoryStore()
    const options = { store, onDisconnect: 'continue', leaseMs: 1000 } as const
    const here = served([{ updates: ['Half'], hang: true }], options)
    const there = place === 'this process' ? here : served(['Hello.'], options)
    const running = await here.post({ chat: 'c1', input: 'A secret.' })

    await there.remove('?chat=c1')
    const replayed = await here.get('?chat=c1&stream')
    await running.text()

    expect(replayed.status).toBe(204)
    expect(await (await here.get('?chat=c1')).json()).toEqual({
      messages: [],
      pending: [],
      running: false,
    })
    expect(await (await here.get('')).json()).toEqual({ sessions: [] })
    expect((await here.get('?chat=c1&stream')).status).toBe(204)
  },
)

test('the last answer of a deleted chat cannot be read again', async () => {
  const { post, get, remove } = served(['Hello.'], { onDisconnect: 'continue' })
  await (await post({ chat: 'c1', input: 'Hi' })).text()
  const before = await get('?chat=c1&stream')

  await remove('?chat=c1')
  const after = await get('?chat=c1&stream')

  expect([before.status, after.status]).toEqual([200, 204])
})
