import type { RunMode, ScriptedStep } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { Hang } from '../../../../tests/support/hang.ts'
import type { KeyValueStore, RunOptions, Session } from '../index.ts'
import { toMessages } from '../authoring.ts'
import { Agent, agentMiddleware, createSession, defineState, memoryStore, tool } from '../index.ts'

const script: readonly ScriptedStep[] = [callFunction('pay', {}, 'c1'), 'Paid.']

/** A process with an agent. All processes share the store, and the list of payments. */
function processOf(
  mode: RunMode,
  { store, paid }: { readonly store?: KeyValueStore; readonly paid: string[] },
  steps: readonly ScriptedStep[] = script,
  whilePaying: () => Promise<unknown> = async () => undefined,
) {
  const pay = tool({
    name: 'pay',
    description: '',
    execute: async (_, { callId }) => {
      paid.push(callId)
      await whilePaying()
      return 'paid'
    },
  })
  const client = scriptedClient(steps)
  const agent = new Agent({ client, tools: [pay], store, storeTimeoutMs: 60_000 })
  const run = (options: RunOptions = {}) =>
    runIn(mode, agent, { idempotencyKey: 'order-7', ...options }).then(
      ({ status, text }) => `${status}: ${text}`,
      (error: { code?: string; message: string }) => error.code ?? error.message,
    )
  return { run, client }
}

function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

const hang = new Hang()
afterAll(() => hang.end())

describe.each(runModes)('runs with one idempotencyKey, %s', (mode) => {
  it('are one: while it lives the others are refused, and after its end they get its ending', async () => {
    const shared = { store: memoryStore(), paid: [] as string[] }
    const paying = gate()
    const slow = gate()
    const first = processOf(mode, shared, script, () => {
      paying.open()
      return slow.opened
    })
    const second = processOf(mode, shared)

    const running = first.run()
    await paying.opened
    const meanwhile = await second.run()
    slow.open()
    const endings = [await running, await second.run(), await first.run()]

    expect(meanwhile).toBe('run_active')
    expect(endings).toEqual(['completed: Paid.', 'completed: Paid.', 'completed: Paid.'])
    expect(shared.paid).toEqual(['c1'])
    expect(second.client.requests).toEqual([])
  })

  it('continue after a failure, and repeat nothing', async () => {
    const shared = { store: memoryStore(), paid: [] as string[] }
    const session = createSession()
    const first = processOf(mode, shared, [script[0]!, new TypeError('down')])
    const second = processOf(mode, shared, ['Paid.'])

    const endings = [await first.run({ session }), await second.run({ session })]

    expect(endings).toEqual(['down', 'completed: Paid.'])
    expect(shared.paid).toEqual(['c1'])
    expect(session.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  it('continue after the death of a process, and do not repeat what it may have done', async () => {
    let now = 0
    const shared = { store: memoryStore({ clock: { now: () => now } }), paid: [] as string[] }
    const paying = gate()
    const dead = processOf(mode, shared, script, () => {
      paying.open()
      return hang.wait()
    })
    const second = processOf(mode, shared, ['I do not know if it was paid.'])

    void dead.run()
    await paying.opened
    const tooEarly = await second.run()
    now += 30_000
    const ending = await second.run()

    expect([tooEarly, ending]).toEqual(['run_active', 'completed: I do not know if it was paid.'])
    expect(shared.paid).toEqual(['c1'])
    expect(JSON.stringify(second.client.requests[0]!.messages)).toContain('uncertain')
  })

  it('continue with an answer that only a dead process had claimed', async () => {
    let now = 0
    const store = memoryStore({ clock: { now: () => now } })
    const ran: string[] = []
    const claimed = gate()
    const processWith = (steps: readonly ScriptedStep[], execute: () => Promise<string>) => {
      const pay = tool({
        name: 'pay',
        description: '',
        approval: 'always',
        idempotent: true,
        execute,
      })
      return new Agent({ client: scriptedClient(steps), tools: [pay], store })
    }
    const dying = processWith([script[0]!], () => {
      claimed.open()
      return hang.wait()
    })
    const other = processWith(['Paid.'], async () => {
      ran.push('paid')
      return 'paid'
    })
    const paused = await runIn(mode, dying)
    const answers = { [paused.pending[0]!.id]: true }
    const resume = (agent: Agent, idempotencyKey?: string) =>
      agent.resume(paused.checkpoint!, answers, { idempotencyKey }).then(
        ({ text }) => text,
        ({ code }: { readonly code: string }) => code,
      )

    void resume(dying, 'answer-1')
    await claimed.opened
    const endings = [await resume(other), await resume(other, 'answer-1')]
    now += 30_000
    endings.push(await resume(other, 'answer-1'))

    expect(endings).toEqual(['approval_used', 'run_active', 'Paid.'])
    expect(ran).toEqual(['paid'])
  })

  it('leave their messages and state in a session whose process died before it was saved', async () => {
    const shared = { store: memoryStore(), paid: [] as string[] }
    const saved = createSession({ messages: toMessages('Hello.', 'user') })
    const stale = () => createSession(saved.toJSON())
    const lost = stale()
    const talked = stale()
    await new Agent({ client: scriptedClient(['Hi.'], { idPrefix: 'other-' }) }).run('Hi.', {
      session: talked,
    })
    const { run } = processOf(mode, shared)
    const count = defineState({
      name: 'runs',
      initial: () => 0,
      schema: z.number(),
      scope: 'session',
    })
    const counting = agentMiddleware('counting', async ({ run: { state } }, callNext) => {
      state.update(count, (runs) => runs + 1)
      await callNext()
    })

    await run({ session: lost, middleware: [counting] })
    const again = stale()
    for (const session of [again, again, talked, talked, lost]) await run({ session })

    expect(again.toJSON()).toEqual({ ...lost.toJSON(), id: saved.id })
    const ids = (session: Session) => session.messages.map(({ id }) => id)
    expect(ids(talked).slice(0, -2)).toEqual(ids(lost))
    expect(talked.messages.at(-1)?.contents).toMatchObject([{ text: 'Hi.' }])
    expect(shared.paid).toEqual(['c1'])
  })

  it('leave a pause in a session whose process died before it was saved', async () => {
    const store = memoryStore()
    const asking = agentMiddleware('asking', async ({ run }, callNext) => {
      await run.interrupt('Sure?')
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware: [asking], store })
    const order = { idempotencyKey: 'order-7', input: 'Pay.' }
    const { pending } = await runIn(mode, agent, { ...order, session: createSession({ id: 's1' }) })
    const session = createSession({ id: 's1' })

    await runIn(mode, agent, { ...order, session })
    const answers = { [pending[0]!.id]: true }
    const { status } = await runIn(mode, agent, { input: [], session, answers })

    expect(status).toBe('completed')
  })

  it('are one in a process without a store, too', async () => {
    const shared = { paid: [] as string[] }
    const idempotencyKey = `order of ${mode}`

    const { run } = processOf(mode, shared)
    const endings = [await run({ idempotencyKey }), await run({ idempotencyKey })]

    expect(endings).toEqual(['completed: Paid.', 'completed: Paid.'])
    expect(shared.paid).toEqual(['c1'])
  })

  const fails = () => Promise.reject(new Error('away'))
  const hangs = () => hang.wait()
  it.each([
    [
      'continues when its store fails now and then',
      fails,
      [1, 2, 4, 5, 7],
      60_000,
      'completed: Paid.',
    ],
    ['ends when its store fails three times in a row', fails, [1, 4, 5, 6], 60_000, 'run_active'],
    ['ends before its lease does when its store hangs', hangs, [1, 2, 3, 4], 29_000, 'run_active'],
  ])('a long run %s', async (_name, isAway, away, ms, ending) => {
    vi.useFakeTimers()
    const memory = memoryStore()
    let renewals = 0
    const store: KeyValueStore = {
      ...memory,
      compareAndSet: async (key, expected, value, options) => {
        if (expected === value && away.includes(++renewals)) return isAway()
        return memory.compareAndSet(key, expected, value, options)
      },
    }
    const slow = gate()
    const { run } = processOf(mode, { store, paid: [] }, script, () => slow.opened)

    const running = run()
    await vi.advanceTimersByTimeAsync(ms)
    slow.open()
    vi.useRealTimers()

    expect(await running).toBe(ending)
  })

  it.each(['its model answers', 'its store keeps that a call begins'])(
    'do nothing more in a process that stood still while %s, and lost the key',
    async (moment) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      onTestFinished(() => void vi.useRealTimers())
      const memory = memoryStore({ clock: { now: () => Date.now() } })
      const [still, awake] = [gate(), gate()]
      const stands = async (): Promise<void> => {
        still.open()
        await awake.opened
      }
      const store: KeyValueStore = {
        ...memory,
        set: async (key, value, options) => {
          await memory.set(key, value, options)
          if (JSON.stringify(value).includes('"kind":"start"')) await stands()
        },
      }
      const isModel = moment === 'its model answers'
      const shared = { store: memory, paid: [] as string[] }
      const answer = async () => {
        if (isModel) await stands()
        return callFunction('pay', {}, 'c1')
      }
      const first = processOf(mode, isModel ? shared : { ...shared, store }, [answer, 'Paid.'])
      const second = processOf(mode, shared, isModel ? script : ['Maybe.'])

      const running = first.run()
      await still.opened
      vi.setSystemTime(Date.now() + 40_000)
      const ending = await second.run()
      awake.open()
      const endings = [await running, await second.run()]

      expect(endings).toEqual(['run_active', ending])
      expect(shared.paid).toEqual(isModel ? ['c1'] : [])
    },
  )

  it('belong to one tenant and user', async () => {
    const shared = { store: memoryStore(), paid: [] as string[] }
    const owners = [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'a', principal: 'ada' }]

    for (const owner of owners) await processOf(mode, shared).run(owner)

    expect(shared.paid).toHaveLength(3)
  })
})
