import { memoryStore } from '@lamella/core'
import type { KeyValueStore } from '@lamella/core'
import { sqliteStore } from '@lamella/store-sqlite'
import { callFunction } from '@lamella/testing'
import { describe, expect, it, vi } from 'vitest'
import type { ChatServiceOptions } from '../chats/chat-options.ts'
import { chatReader } from '../reader/chat-reader.ts'
import { requestsHandler } from './requests-handler.ts'
import type { Served } from './served.test-helper.ts'
import { base, lastOf, refusalOf, served } from './served.test-helper.ts'

type ScriptedModel = Extract<Parameters<typeof served>[0], (...args: never) => unknown>

interface Shown {
  readonly requests: readonly { id: string; principal: string; place: string; claimedBy?: string }[]
  readonly version: string
}

/** One process of a shop: customers with chats, and managers whose names begin with `max`. */
function shop(store: KeyValueStore, options: Partial<ChatServiceOptions> = {}) {
  const script: ScriptedModel = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Paid.' : [callFunction('refund', { amount: 5 }, 'c1')]
  const site = served(script, {
    store,
    mayManage: ({ principal, request }) =>
      principal.id.startsWith('max') && request.principal !== principal.id,
    onDisconnect: 'continue',
    ...options,
  })
  const handler = requestsHandler(site.service)
  const ask = (user: string, init: RequestInit = {}, query = ''): Promise<Response> =>
    handler(
      new Request(`https://shop.example/requests${query}`, {
        ...init,
        headers: { 'x-user': user, 'content-type': 'application/json' },
      }),
    )
  return {
    ...site,
    list: async (user = 'max', query = '') => (await (await ask(user, {}, query)).json()) as Shown,
    act: (body: object, user = 'max') => ask(user, { method: 'POST', body: JSON.stringify(body) }),
  }
}

const pause = async ({ post }: Pick<Served, 'post'>, user = 'ann'): Promise<string> => {
  const [, done] = await lastOf(await post({ chat: 'c', input: 'Refund' }, { 'x-user': user }))
  return done.pending[0]!.id
}

describe('open requests of all chats', () => {
  it('are seen and answered in another process by those who may, once', async () => {
    const store = memoryStore()
    const [front, office] = [shop(store), shop(store)]
    const id = await pause(front)

    const { requests } = await office.list()
    expect(requests).toMatchObject([{ id, principal: 'ann', place: 'c' }])
    expect((await office.list('ann')).requests).toEqual([])
    expect(await refusalOf(await office.act({ id, answer: true }, 'ann'))).toEqual([
      404,
      'request_unknown',
    ])
    const answers = await Promise.all([
      office.act({ id, answer: true }),
      office.act({ id, answer: true }),
    ])

    expect(answers.map(({ status }) => status)).toContain(202)
    await vi.waitFor(async () => {
      const { running } = await front.service.history({ principal: 'ann', chat: 'c' })
      expect(running).toBe(false)
    }, 60_000)
    expect([...front.paid, ...office.paid]).toEqual([{ amount: 5 }])
    expect((await front.list()).requests).toEqual([])
  })

  it('cannot be answered by who asked, or by another than the one who claimed it', async () => {
    const front = shop(memoryStore())
    const [own, id] = [await pause(front, 'max'), await pause(shop(memoryStore()))]
    void id

    expect((await front.list()).requests).toEqual([])
    const claimed = await front.act({ id: own, claim: true }, 'max2')
    expect(await claimed.json()).toEqual({ claimed: true })
    expect(await (await front.act({ id: own, claim: true }, 'max3')).json()).toEqual({
      claimed: false,
    })
    expect((await front.list('max3')).requests).toMatchObject([{ claimedBy: 'max2' }])
    const late = [
      await refusalOf(await front.act({ id: own, answer: true }, 'max3')),
      await refusalOf(
        await front.post({ chat: 'c', answers: { [own]: false } }, { 'x-user': 'max' }),
      ),
    ]
    expect(late).toEqual([
      [409, 'request_claimed'],
      [409, 'request_claimed'],
    ])
    expect((await front.act({ id: own, answer: false }, 'max2')).status).toBe(202)
  })

  it('close with the answer of the owner, and with the chat', async () => {
    const front = shop(memoryStore())
    const declined = await pause(front)

    await (await front.post({ chat: 'c', answers: { [declined]: false } })).text()
    expect((await front.list()).requests).toEqual([])
    const other = shop(memoryStore())
    await pause(other)
    await other.remove('?chat=c')
    expect((await other.list()).requests).toEqual([])
  })

  it('are refused when their time is over, and the run continues', async () => {
    const front = shop(memoryStore(), { expiresAfterMs: 30 })
    await pause(front)

    await vi.waitFor(async () => {
      const { messages, pending } = await front.service.history({ principal: 'ann', chat: 'c' })
      expect(pending).toEqual([])
      expect(JSON.stringify(messages)).toContain('Paid.')
    }, 60_000)

    const [, second] = front.client.requests
    expect(JSON.stringify(second!.messages)).toContain('nobody answered in time')
    expect(front.paid).toEqual([])
  })

  it.each([
    ['over notes', () => memoryStore()],
    ['by polling', () => sqliteStore(':memory:')],
  ])('reach those who wait, %s', async (_, make) => {
    const store = make()
    const [front, office] = [shop(store), shop(store)]
    const stop = new AbortController()
    const chat = chatReader({
      url: base,
      chat: 'c',
      headers: { 'x-user': 'ann' },
      fetch: (url, init) => front.handler(new Request(url, init)),
    })
    const watched = chat.watch(stop.signal)
    const first = await office.list()

    const opened = office.list('max', `?since=${first.version}`)
    await pause(front)
    const { requests } = await opened
    await office.act({ id: requests[0]!.id, answer: true })

    await expect.poll(() => JSON.stringify(chat.state.messages)).toContain('Paid.')
    await expect.poll(() => chat.state).toMatchObject({ pending: [], status: 'ready' })
    stop.abort()
    await watched
  })

  it.each([
    [{ answer: true }, 400],
    [{ id: 'x' }, 400],
    [{ id: 'x', answer: true }, 404],
  ])('refuse %o', async (body, status) => {
    expect((await shop(memoryStore()).act(body)).status).toBe(status)
  })
})
