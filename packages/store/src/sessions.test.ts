import { describe, expect, test } from 'vitest'
import { Agent, createSession, memoryStore, message, tool } from '@lamella/core'
import type { Session, KeyValueStore } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import type { SessionsOptions } from './sessions.ts'
import { sessions } from './sessions.ts'

const say = (session: Session, ...texts: string[]): void => {
  session.messages = [...session.messages, ...texts.map((text) => message('user', text))]
}
const textsOf = (session: Session | undefined): (string | undefined)[] | undefined =>
  session?.messages.map(({ contents }) =>
    contents[0]?.type === 'text' ? contents[0].text : undefined,
  )

/** Two processes: each has its own object, and both one store. */
function processes(options: SessionsOptions = {}) {
  const store = memoryStore()
  return { store, one: sessions(store, options), two: sessions(store, options) }
}

describe('sessions', () => {
  test('a saved session is loaded as it was', async () => {
    const { one, two } = processes()
    const session = await one.open('s1')
    say(session, 'Hello')
    session.state['topic'] = 'tides'
    await one.save(session)

    const loaded = await two.load('s1')

    expect(loaded?.toJSON()).toEqual(session.toJSON())
    expect(await two.load('s2')).toBeUndefined()
  })

  test('of two that continue from the same save, the second is rejected, and nothing is lost', async () => {
    const { one, two } = processes()
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    say(first, 'I am allergic to nuts.')
    say(second, 'Order a cake.')

    await one.save(first)
    const saving = two.save(second)

    await expect(saving).rejects.toMatchObject({ code: 'session_conflict' })
    expect(textsOf(await one.load('s1'))).toEqual(['I am allergic to nuts.'])
  })

  test('saves at the same moment do not overwrite each other', async () => {
    const { one, two } = processes()
    const all = await Promise.all([one.open('s1'), two.open('s1'), two.open('s1')])
    for (const [index, session] of all.entries()) say(session, `said by ${index}`)

    const results = await Promise.allSettled(
      all.map((session, index) => (index === 0 ? one : two).save(session)),
    )

    expect(results.map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect(textsOf(await one.load('s1'))).toHaveLength(1)
  })

  test('a session may be saved again and again', async () => {
    const { one, two } = processes()
    const session = await one.open('s1')
    for (const text of ['a', 'b', 'c']) {
      say(session, text)
      await one.save(session)
    }

    expect(textsOf(await two.load('s1'))).toEqual(['a', 'b', 'c'])
  })

  test('on request, what both added is kept, in both processes', async () => {
    const { one, two } = processes({ onConflict: 'merge' })
    const begun = await one.open('s1')
    say(begun, 'Hello')
    await one.save(begun)
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    say(first, 'I am allergic to nuts.')
    first.state['nuts'] = false
    say(second, 'Order a cake.')
    second.state['cake'] = 1
    const { id } = second.messages.at(-1)!

    await one.save(first)
    await two.save(second)

    const all = ['Hello', 'I am allergic to nuts.', 'Order a cake.']
    expect(textsOf(await one.load('s1'))).toEqual(all)
    expect(textsOf(second)).toEqual(all)
    expect(second.messages.at(-1)!.id).toBe(id)
    expect(second.state).toEqual({ nuts: false, cake: 1 })
    say(second, 'Thanks')
    await two.save(second)
    expect(textsOf(await one.load('s1'))).toEqual([...all, 'Thanks'])
  })

  test('a merge keeps a message that both have once, and both of one id that say different things', async () => {
    const { one, two } = processes({ onConflict: 'merge' })
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    const shared = message('user', 'Hello')
    const other = { ...message('user', 'There'), id: 'm1' }
    first.messages = [shared, { ...other, contents: [{ type: 'text', text: 'Here' }] }]
    second.messages = [shared, other]

    await one.save(first)
    await two.save(second)

    expect(textsOf(second)).toEqual(['Hello', 'Here', 'There'])
    expect(new Set(second.messages.map(({ id }) => id)).size).toBe(3)
  })

  test('a merge begins from the last save, and not from an earlier one', async () => {
    const { one, two } = processes({ onConflict: 'merge' })
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    first.state['step'] = 1
    await one.save(first)
    await two.save(second)
    second.state['other'] = 1
    await two.save(second)
    first.state['step'] = 2
    say(first, 'a')
    await one.save(first)

    expect((await one.load('s1'))?.state).toEqual({ step: 2, other: 1 })
  })

  test('a merge has what either side changed of the state, and what both changed in the same way', async () => {
    const { one, two } = processes({ onConflict: 'merge' })
    const begun = await one.open('s1')
    Object.assign(begun.state, { a: 1, b: 1, c: 1, d: 1, e: 1 })
    await one.save(begun)
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    Object.assign(first.state, { a: 2, c: 3 })
    delete first.state['d']
    Object.assign(second.state, { c: 3 })
    delete second.state['b']
    const own = { value: {}, enumerable: true, writable: true, configurable: true }
    Object.defineProperty(second.state, '__proto__', own)

    await one.save(first)
    await two.save(second)

    const merged = '{"a":2,"c":3,"e":1,"__proto__":{}}'
    expect([JSON.stringify(second.state), 'b' in second.state]).toEqual([merged, false])
    expect(JSON.stringify((await one.load('s1'))?.state)).toBe(merged)
    second.state['a'] = 4
    delete second.state['c']
    expect(JSON.stringify(second.state)).toBe('{"a":4,"e":1,"__proto__":{}}')
  })

  test('a save that merges nothing leaves the objects of the state in place', async () => {
    const { one } = processes()
    const session = await one.open('s1')
    const topics = ['tides']
    session.state['topics'] = topics

    await one.save(session)

    expect(session.state['topics']).toBe(topics)
  })

  test.each<[string, (session: Session) => void]>([
    ['the same state', (session) => void (session.state['step'] = session.messages.length)],
    ['the history', (session) => void (session.messages = session.messages.slice(1))],
  ])('a merge that would lose something is rejected: %s', async (_, change) => {
    const { one, two } = processes({ onConflict: 'merge' })
    const begun = await one.open('s1')
    say(begun, 'a', 'b')
    await one.save(begun)
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    say(first, 'c')
    first.state['step'] = 'one'
    change(second)

    await one.save(first)

    await expect(two.save(second)).rejects.toMatchObject({ code: 'session_conflict' })
  })

  test('an answered approval is not asked again after a merge', async () => {
    const { one, two } = processes({ onConflict: 'merge' })
    const ask = (id: string) =>
      ({ type: 'approval-request', id, call: { type: 'function-call', callId: id } }) as never
    const begun = await one.open('s1')
    begun.pending = [ask('a'), ask('b')]
    await one.save(begun)
    const [first, second] = [await one.open('s1'), await two.open('s1')]
    first.pending = [ask('b'), ask('c')]
    second.pending = [ask('a'), ask('d')]

    await one.save(first)
    await two.save(second)

    expect(second.pending.map(({ id }) => id)).toEqual(['c', 'd'])
  })

  test('tenants have sessions of their own, whatever their ids', async () => {
    const { one } = processes()
    for (const tenant of ['a', 'b', 'a@b', 'a:b', undefined]) {
      const session = await one.open('chat-1', { tenant })
      say(session, `of ${tenant}`)
      await one.save(session)
    }

    expect(textsOf(await one.load('chat-1', { tenant: 'a' }))).toEqual(['of a'])
    expect(textsOf(await one.load('chat-1'))).toEqual(['of undefined'])
    expect(await one.load('chat-1', { tenant: 'c' })).toBeUndefined()
  })

  test('a session of another principal counts as missing, and cannot be replaced or deleted', async () => {
    const { one } = processes()
    const owner = { tenant: 't', principal: 'ada' }
    const session = await one.open('s1', owner)
    await one.save(session)
    const other = { tenant: 't', principal: 'bob' }

    const stolen = createSession({ ...session.toJSON(), messages: [] })

    expect(await one.load('s1', other)).toBeUndefined()
    await expect(one.open('s1', other)).rejects.toMatchObject({ code: 'session_unknown' })
    await expect(one.save(stolen, other)).rejects.toMatchObject({ code: 'session_conflict' })
    await one.delete('s1', other)
    expect(await one.load('s1', owner)).toBeDefined()
  })

  test('lists the sessions of a principal, the last saved first, page by page', async () => {
    let ms = 0
    const clock = { now: () => ms, sleep: () => new Promise<void>(() => {}) }
    const chats = sessions(memoryStore({ clock }), { clock, ttlMs: 1000 })
    const ada = { tenant: 't', principal: 'ada' }
    for (const id of ['a', 'b', 'c']) {
      ms += 100
      await chats.save(await chats.open(id, ada))
    }
    await chats.save(await chats.open('d', { tenant: 't', principal: 'bob' }))
    ms += 100
    await chats.save((await chats.load('a', ada))!)
    await chats.delete('c', ada)

    const first = await chats.list({ ...ada, limit: 1 })
    const second = await chats.list({ ...ada, limit: 1, after: first.next })
    const deleted = await chats.load('c', ada)
    ms += 800

    expect(first.sessions).toEqual([{ id: 'a', savedAt: 400 }])
    expect(second.sessions).toEqual([{ id: 'b', savedAt: 200 }])
    expect((await chats.list(ada)).sessions).toEqual([{ id: 'a', savedAt: 400 }])
    expect([deleted, await chats.load('b', ada)]).toEqual([undefined, undefined])
  })

  test('sessions of nobody are listed apart from those of any principal', async () => {
    const { one } = processes()
    await one.save(await one.open('mine', { principal: 'undefined' }))
    await one.save(await one.open('free'))

    expect((await one.list()).sessions.map(({ id }) => id)).toEqual(['free'])
    expect((await one.list({ principal: 'undefined' })).sessions.map(({ id }) => id)).toEqual([
      'mine',
    ])
  })

  test('a run inside of others shares the session with its id and tenant, and no other', async () => {
    const { one } = processes()
    const around = [await one.open('s1', { tenant: 'a' })]
    const { signal } = new AbortController()
    const enter = async (id: string, tenant: string) =>
      (await one.at(id, { tenant }).enter({ around, signal })).session

    const entered = [await enter('s1', 'a'), await enter('s1', 'b'), await enter('s2', 'a')]

    expect(entered.map((session) => around.includes(session))).toEqual([true, false, false])
  })

  test('a fork is saved under its own id, and leaves the session alone', async () => {
    const { one } = processes()
    const session = await one.open('s1', { principal: 'ada' })
    say(session, 'a', 'b')
    await one.save(session)

    const copy = await one.fork('s1', { principal: 'ada', until: session.messages[0]!.id })
    say(copy, 'c')
    await one.save(copy)

    expect(textsOf(await one.load(copy.id, { principal: 'ada' }))).toEqual(['a', 'c'])
    expect(await one.load(copy.id, { principal: 'bob' })).toBeUndefined()
    expect(textsOf(await one.load('s1'))).toEqual(['a', 'b'])
    await expect(one.fork('none')).rejects.toMatchObject({ code: 'session_unknown' })
  })

  test.each(runModes)(
    'a %s run with an `idempotencyKey` saves what one has left whose process died while it saved',
    async (mode) => {
      const { store, one } = processes()
      let now = 0
      let die!: () => void
      const died = new Promise<void>((resolve) => (die = resolve))
      const dying = sessions({
        ...store,
        compareAndSet() {
          die()
          return new Promise(() => {})
        },
      })
      const paid: string[] = []
      const pay = tool({ name: 'pay', description: '', execute: () => void paid.push('once') })
      const steps = [callFunction('pay'), 'Paid.']
      const leases = memoryStore({ clock: { now: () => now } })
      const agent = new Agent({ client: scriptedClient(steps), tools: [pay], store: leases })
      const order = { input: 'Pay.', idempotencyKey: 'order-7' }
      void runIn(mode, agent, { ...order, session: dying.at('s1') }).catch(() => {})
      await died
      now += 30_000

      const { text } = await runIn(mode, agent, { ...order, session: one.at('s1') })

      const { messages } = (await one.load('s1'))!
      expect(text).toBe('Paid.')
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
      expect(paid).toEqual(['once'])
    },
  )

  test('a save whose reply was lost may be repeated', async () => {
    const store = memoryStore()
    let loses = true
    const lossy: KeyValueStore = {
      ...store,
      async compareAndSet(...given) {
        const wrote = await store.compareAndSet(...given)
        if (loses) throw new Error('connection lost')
        return wrote
      },
    }
    const chats = sessions(lossy)
    const session = await chats.open('s1')
    say(session, 'a')
    await expect(chats.save(session)).rejects.toThrow('connection lost')

    loses = false
    say(session, 'b')
    await chats.save(session)

    expect(textsOf(await chats.load('s1'))).toEqual(['a', 'b'])
  })

  test('a repeated save merges with one that came in between', async () => {
    const store = memoryStore()
    const two = sessions(store, { onConflict: 'merge' })
    const writes: (() => Promise<void>)[] = [
      () => Promise.reject(new Error('connection lost')),
      async () => {
        const other = await two.open('s1')
        other.state['step'] = 2
        await two.save(other)
      },
    ]
    const lossy: KeyValueStore = {
      ...store,
      async compareAndSet(...given) {
        const isFirst = writes.length === 2
        const wrote = isFirst && (await store.compareAndSet(...given))
        await writes.shift()?.()
        return wrote || store.compareAndSet(...given)
      },
    }
    const one = sessions(lossy, { onConflict: 'merge' })
    const session = await one.open('s1')
    session.state['step'] = 1
    await expect(one.save(session)).rejects.toThrow('connection lost')

    say(session, 'a')
    await one.save(session)

    expect([textsOf(session), session.state]).toEqual([['a'], { step: 2 }])
  })

  test('a snapshot continues the save that it was made of, wherever that is', async () => {
    const { one, two } = processes()
    const owner = { tenant: 't', principal: 'ada' }
    const session = await one.open('s1', owner)
    say(session, 'a')
    await one.save(session)
    const [first, late] = [session, session].map((each) => createSession(each.toJSON()))
    say(first!, 'b')
    say(late!, 'c')

    await two.save(first!, owner)

    expect(textsOf(await one.load('s1', owner))).toEqual(['a', 'b'])
    await expect(two.save(late!, owner)).rejects.toMatchObject({ code: 'session_conflict' })
  })

  test('a snapshot that somebody has saved by now is no conflict', async () => {
    const { one, two } = processes()
    const session = await one.open('s1')
    say(session, 'a')
    const snapshot = session.toJSON()
    await one.save(session)

    const repeated = createSession(snapshot)
    await two.save(repeated)
    say(repeated, 'b')
    await two.save(repeated)

    expect(textsOf(await one.load('s1'))).toEqual(['a', 'b'])
  })

  test('a store that does not answer is not waited for without end', async () => {
    const store = { ...memoryStore(), get: () => new Promise<never>(() => {}) }
    const clock = { now: () => 0, sleep: async () => {} }

    const loading = sessions(store, { clock, storeTimeoutMs: 100 }).load('s1')

    await expect(loading).rejects.toMatchObject({ code: 'store_timeout' })
  })

  test('an entry that is no session is an error, not a session without a past', async () => {
    const { store, one } = processes()
    await one.save(await one.open('s1'))
    const entry = (await store.get('sessions:s1')) as { session: object }
    const { session } = entry
    const wrong = [
      null,
      { ...entry, version: 2 },
      { ...entry, session: null },
      { ...entry, session: { ...session, version: 2 } },
      { ...entry, session: { ...session, revision: 1 } },
      { ...entry, session: { ...session, messages: {} } },
    ]

    for (const value of wrong) {
      await store.set('sessions:s1', value)
      await expect(one.load('s1')).rejects.toMatchObject({ code: 'session_invalid' })
    }
  })

  test('says which option is wrong', () => {
    const make = (options: unknown) => () => sessions(memoryStore(), options as SessionsOptions)

    expect(make({ ttlMs: 0 })).toThrow('sessions: `ttlMs` must be')
    expect(make({ onConflict: 'overwrite' })).toThrow('sessions: `onConflict` must be')
  })

  test('says what a store lacks', async () => {
    const { lists: _, ...plain } = memoryStore()
    const keyv = { get() {}, set() {}, delete() {}, opts: {} }

    expect(() => sessions(keyv as never)).toThrow(
      'sessions: `store` needs `compareAndSet`, which this store lacks; wrap a Keyv in `keyvStore()`',
    )
    const { opts, ...weak } = keyv
    expect(() => sessions(weak as never)).toThrow('the stores of Lamella have all parts')
    await sessions(plain).save(createSession({ id: 's1' }))
    await sessions(plain).delete('s1')
    expect(await sessions(plain).load('s1')).toBeUndefined()
    await expect(sessions(plain).list()).rejects.toThrow(
      'sessions.list: `store` needs `lists`, which this store lacks',
    )
    const withOptions = { ...plain, opts }
    await expect(sessions(withOptions).list()).rejects.toThrow(
      'the stores of Lamella have all parts',
    )
  })
})
