import type { RunMode, ScriptedStep } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { KeyValueStore, RunOptions } from '../index.ts'
import { Agent, createSession, memoryStore, tool } from '../index.ts'

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
  const agent = new Agent({ client, tools: [pay], store })
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
      return new Promise(() => {})
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

  it('are one in a process without a store, too', async () => {
    const shared = { paid: [] as string[] }
    const idempotencyKey = `order of ${mode}`

    const { run } = processOf(mode, shared)
    const endings = [await run({ idempotencyKey }), await run({ idempotencyKey })]

    expect(endings).toEqual(['completed: Paid.', 'completed: Paid.'])
    expect(shared.paid).toEqual(['c1'])
  })

  it('belong to one tenant and user', async () => {
    const shared = { store: memoryStore(), paid: [] as string[] }
    const owners = [{ tenant: 'a' }, { tenant: 'b' }, { tenant: 'a', principal: 'ada' }]

    for (const owner of owners) await processOf(mode, shared).run(owner)

    expect(shared.paid).toHaveLength(3)
  })
})
