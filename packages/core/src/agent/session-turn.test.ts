import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test, vi } from 'vitest'
import { tool } from '../contract/tool.ts'
import { messageText } from '../messages/message.ts'
import type { Session, SessionEntry, SessionReference } from '../messages/session.ts'
import { createSession } from '../messages/session.ts'
import { sessions } from '@lamella/store'
import type { KeyValueStore } from '../store/store.ts'
import { memoryStore } from '../store/store.ts'
import { Agent } from './agent.ts'

const textsOf = (session: Session | undefined): readonly string[] =>
  (session?.messages ?? []).map(messageText)

/** A model that answers each question when it is told to. */
function gated() {
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const client = scriptedClient(async ({ messages }) => {
    const text = messageText(messages.at(-1)!)
    asked.push(text)
    await new Promise<void>((resolve) => waiting.push(resolve))
    return `To ${text}`
  })
  const answer = async (): Promise<void> => {
    await expect.poll(() => waiting.length, { interval: 1 }).toBeGreaterThan(0)
    waiting.shift()!()
  }
  return { agent: new Agent({ client }), asked, answer }
}

type Kind = 'session' | 'reference'
const kinds: readonly Kind[] = ['session', 'reference']

/** A session of a kind: what runs are given, and what it holds afterwards. */
function chat(kind: Kind, store: KeyValueStore = memoryStore()) {
  const own = createSession({ id: 'chat' })
  const chats = sessions(store)
  const given = (): Session | SessionReference => (kind === 'session' ? own : chats.at('chat'))
  const kept = async () => textsOf(kind === 'session' ? own : await chats.load('chat'))
  return { given, kept, chats }
}

describe.each(runModes)('runs on one session, %s', (mode) => {
  test.each(kinds)('follow each other, by %s', async (kind) => {
    const { agent, asked, answer } = gated()
    const { given, kept } = chat(kind)

    const runs = ['one', 'two', 'three'].map((input) =>
      runIn(mode, agent, { input, session: given() }),
    )
    for (const number of [1, 2, 3]) {
      await expect.poll(() => asked.length, { interval: 1 }).toBe(number)
      await answer()
    }
    await Promise.all(runs)

    expect(asked).toEqual(['one', 'two', 'three'])
    expect(await kept()).toEqual(['one', 'To one', 'two', 'To two', 'three', 'To three'])
  })

  test.each(kinds)('continue after one that failed or was aborted, by %s', async (kind) => {
    const { given, kept } = chat(kind)
    const client = scriptedClient([new Error('broken'), 'Here.'])
    const agent = new Agent({ client })
    const controller = new AbortController()

    const failed = runIn(mode, agent, { session: given() }).catch((error: Error) => error.message)
    const aborted = runIn(mode, agent, {
      session: given(),
      signal: controller.signal,
    }).catch((error: Error) => error.message)
    const last = runIn(mode, agent, { session: given() })
    controller.abort(new Error('enough'))

    expect(await Promise.all([failed, aborted])).toEqual(['broken', 'enough'])
    expect((await last).text).toBe('Here.')
    expect(await kept()).toEqual(['Hello', 'Here.'])
  })

  test.each(kinds)('do not wait for the run that they are inside of, by %s', async (kind) => {
    const { given, kept } = chat(kind)
    const helper = new Agent({ client: scriptedClient(() => 'Helped.') })
    const help = tool({
      name: 'help',
      description: 'Helps.',
      execute: async (_, { run }) =>
        (await runIn(mode, helper, { input: 'Help.', session: given(), parent: run })).text,
    })
    const client = scriptedClient([callFunction('help'), 'Done.'])

    const { text } = await runIn(mode, new Agent({ client, tools: [help] }), { session: given() })

    expect(text).toBe('Done.')
    expect(await kept()).toEqual(['Hello', 'Help.', 'Helped.', '', '', 'Done.'])
  })

  test.each(kinds)('inside of one without `parent` say so, by %s', async (kind) => {
    const { given } = chat(kind)
    const helper = new Agent({ client: scriptedClient(() => 'Helped.') })
    const problems: unknown[] = []
    const help = tool({
      name: 'help',
      description: 'Helps.',
      execute: async () => {
        await runIn(mode, helper, { session: given(), sessionWaitMs: 1 }).catch((error: unknown) =>
          problems.push(error),
        )
        return 'No help.'
      },
    })
    const client = scriptedClient([callFunction('help'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [help] }), { session: given() })

    expect(problems).toMatchObject([
      { code: 'session_busy', message: expect.stringContaining('`parent: context.run`') },
    ])
  })
})

describe('a reference to a session', () => {
  test('begins with what another process has saved', async () => {
    const store = memoryStore()
    const agent = new Agent({ client: scriptedClient(() => 'Yes.') })

    for (const _ of [1, 2]) await agent.run('Hello', { session: sessions(store).at('chat') })

    expect(textsOf(await sessions(store).load('chat'))).toEqual(['Hello', 'Yes.', 'Hello', 'Yes.'])
  })

  test.each([
    ['rejects', 'reject', ['session_conflict', ['two', 'To two']]],
    ['joins', 'merge', ['completed', ['two', 'To two', 'one', 'To one']]],
  ] as const)(
    '%s what another process has saved meanwhile',
    async (_, onConflict, [outcome, expected]) => {
      const store = memoryStore()
      const { agent, answer } = gated()
      const quick = new Agent({ client: scriptedClient(['To two']) })

      const one = agent.run('one', { session: sessions(store, { onConflict }).at('chat') }).then(
        ({ status }) => status,
        ({ code }: { code: string }) => code,
      )
      await new Promise((resolve) => setTimeout(resolve))
      await quick.run('two', { session: sessions(store).at('chat') })
      await answer()

      expect(await one).toBe(outcome)
      expect(textsOf(await sessions(store).load('chat'))).toEqual(expected)
    },
  )

  test('of another principal begins no run, and of another tenant is another session', async () => {
    const chats = sessions(memoryStore())
    const client = scriptedClient(() => 'Yes.')
    const agent = new Agent({ client })
    const ada = { tenant: 'acme', principal: 'ada' }
    await agent.run('Hello', { session: chats.at('chat', ada) })

    const other = agent.run('Hi', { session: chats.at('chat', { ...ada, principal: 'bob' }) })
    await expect(other).rejects.toMatchObject({ code: 'session_unknown' })
    await agent.run('Hey', { session: chats.at('chat', { tenant: 'other' }) })

    expect(client.requests).toHaveLength(2)
    expect(textsOf(await chats.load('chat', ada))).toEqual(['Hello', 'Yes.'])
    expect(textsOf(await chats.load('chat', { tenant: 'other' }))).toEqual(['Hey', 'Yes.'])
  })

  test('keeps a pending approval, which another process answers', async () => {
    const store = memoryStore()
    let refunds = 0
    const make = (): Agent => {
      const refund = tool({
        name: 'refund',
        description: 'Pays.',
        approval: 'always',
        execute: () => `${++refunds}`,
      })
      return new Agent({
        client: scriptedClient([refunds === 0 ? callFunction('refund') : 'Done.', 'Done.']),
        tools: [refund],
      })
    }
    const { pending } = await make().run('Refund it.', { session: sessions(store).at('chat') })
    const { id } = pending[0]!

    const { text } = await new Agent({
      client: scriptedClient(['Done.']),
      tools: make().tools,
    }).run([], { session: sessions(store).at('chat'), answers: { [id]: true } })

    expect([text, refunds]).toEqual(['Done.', 1])
    expect((await sessions(store).load('chat'))?.pending).toEqual([])
  })

  test('writes nothing where a run has changed nothing', async () => {
    const store = memoryStore()
    let writes = 0
    const counting: KeyValueStore = {
      ...store,
      compareAndSet: (...args) => {
        writes++
        return store.compareAndSet(...args)
      },
    }
    const agent = new Agent({ client: scriptedClient([new Error('broken')]) })

    await agent.run('Hello', { session: sessions(counting).at('chat') }).catch(() => {})

    expect(writes).toBe(0)
  })

  test('ends the wait for a store that hangs, and lets the next run try', async () => {
    const store = memoryStore()
    let hangs = true
    const stalled: KeyValueStore = {
      ...store,
      get: (key) => (hangs ? new Promise<never>(() => {}) : store.get(key)),
    }
    const chats = sessions(stalled, { storeTimeoutMs: 1 })
    const agent = new Agent({ client: scriptedClient(() => 'Yes.') })

    const first = agent.run('Hello', { session: chats.at('chat') })
    await expect(first).rejects.toMatchObject({ code: 'store_timeout' })
    hangs = false

    expect((await agent.run('Hello', { session: chats.at('chat') })).text).toBe('Yes.')
  })

  test('waits for the claim of an answer as long as its session waits for the store', async () => {
    const store = memoryStore()
    let hangs = false
    const stalled: KeyValueStore = {
      ...store,
      compareAndSet: (...args) =>
        hangs ? new Promise<never>(() => {}) : store.compareAndSet(...args),
    }
    const session = await sessions(stalled, { storeTimeoutMs: 1 }).open('chat')
    const refund = tool({
      name: 'refund',
      description: 'Pays.',
      approval: 'always',
      execute: () => 'paid',
    })
    const agent = new Agent({ client: scriptedClient([callFunction('refund')]), tools: [refund] })
    const { pending } = await agent.run('Refund it.', { session })
    hangs = true

    const running = agent.run([], { session, answers: { [pending[0]!.id]: true } })

    await expect(running).rejects.toThrow('within 1 ms')
  })
})

/** A reference to a session of the caller's own. */
function reference(enter: (entry: SessionEntry) => void | Promise<void>, leave = async () => {}) {
  return {
    id: 'own',
    enter: async (entry: SessionEntry) => {
      await enter(entry)
      return { session: createSession({ id: 'own' }), leave }
    },
  } satisfies SessionReference
}

describe.each(runModes)('the turn of a run in a session, %s', (mode) => {
  test('is over before a run that failed rejects', async () => {
    const log: string[] = []
    const session = reference(
      () => {},
      async () => {
        await new Promise((resolve) => setTimeout(resolve))
        log.push('left')
      },
    )
    const agent = new Agent({ client: scriptedClient([new Error('broken')]) })

    await runIn(mode, agent, { session }).catch(({ message }: Error) => log.push(message))

    expect(log).toEqual(['left', 'broken'])
  })

  test('does not hold up a run that was aborted', async () => {
    const session = reference(
      () => {},
      () => new Promise(() => {}),
    )
    const controller = new AbortController()
    const client = scriptedClient(() => {
      controller.abort(new Error('enough'))
      return 'Late.'
    })

    const running = runIn(mode, new Agent({ client }), { session, signal: controller.signal })

    await expect(running).rejects.toThrow('enough')
  })

  test('that begins when nobody waits for it any more is over at once', async () => {
    let enter!: () => void
    let left = 0
    const session = reference(
      () => new Promise((resolve) => (enter = resolve)),
      async () => void left++,
    )
    const running = runIn(mode, new Agent({ client: scriptedClient([]) }), {
      session,
      sessionWaitMs: 1,
    })
    await expect(running).rejects.toMatchObject({ code: 'session_busy' })

    enter()

    await expect.poll(() => left, { interval: 1 }).toBe(1)
  })

  test('knows the sessions of the runs around it, and only those', async () => {
    const around: unknown[] = []
    const session = reference((entry) => void around.push(entry.around))
    const helper = new Agent({ client: scriptedClient(() => 'Helped.') })
    const help = tool({
      name: 'help',
      description: 'Helps.',
      execute: async (_, { run }) => (await runIn(mode, helper, { session, parent: run })).text,
    })
    const runWith = (outer: Session | undefined) =>
      runIn(
        mode,
        new Agent({ client: scriptedClient([callFunction('help'), 'Done.']), tools: [help] }),
        {
          session: outer,
        },
      )
    const outer = createSession()

    await runWith(undefined)
    await runWith(outer)

    expect(around).toEqual([[], [outer]])
  })

  test('leaves no timer behind', async () => {
    vi.useFakeTimers()

    await runIn(mode, new Agent({ client: scriptedClient(['Hello.']) }), {
      session: createSession(),
    })

    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
})
