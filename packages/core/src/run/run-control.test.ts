import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, vi } from 'vitest'
import type { AgentResponse, CancelMode, Checkpoint } from '../index.ts'
import { Agent, agentTool, chatMiddleware, LamellaError, RunControl, tool } from '../index.ts'

describe.each(runModes)('cancelling a run, %s', (mode) => {
  function make(control: RunControl, at: 'model' | 'tool', cancel: () => unknown) {
    const ran: string[] = []
    const client = scriptedClient([
      callFunction('work', {}, 'c1'),
      callFunction('work', {}, 'c2'),
      'Done.',
    ])
    const agent = new Agent({
      client,
      tools: [
        tool({
          name: 'work',
          description: '',
          execute: async () => {
            ran.push('work')
            if (at === 'tool' && ran.length === 1) cancel()
            await Promise.resolve()
            return 'worked'
          },
        }),
      ],
      middleware: chatMiddleware('cancel', async ({ iteration }, callNext) => {
        if (at === 'model' && iteration === 0) cancel()
        await callNext()
      }),
    })
    return { agent, client, ran, response: runIn(mode, agent, { control }) }
  }

  it.each<['model' | 'tool', CancelMode, { calls: number; work: number }]>([
    ['model', 'after-model', { calls: 1, work: 0 }],
    ['model', 'after-tools', { calls: 1, work: 1 }],
    ['tool', 'after-model', { calls: 1, work: 1 }],
    ['tool', 'after-tools', { calls: 1, work: 1 }],
  ])(
    'during a %s call, %s: it pauses at a safe point, and continues from there',
    async (at, cancelMode, done) => {
      const control = new RunControl()
      const { agent, client, ran, response } = make(control, at, () =>
        control.cancel({ mode: cancelMode }),
      )

      const paused = await response

      expect(paused).toMatchObject({ status: 'paused', reason: 'cancelled', pending: [] })
      expect({ calls: client.requests.length, work: ran.length }).toEqual(done)
      const resumed = await agent.resume(copy(paused.checkpoint!), {})
      expect(resumed).toMatchObject({ status: 'completed', text: 'Done.' })
      expect(ran).toHaveLength(2)
      expect(client.requests).toHaveLength(3)
    },
  )

  it('now: it aborts, and whoever cancelled is told when it is over', async () => {
    const control = new RunControl()
    let over: Promise<void> | undefined
    const { response } = make(control, 'model', () => (over = control.cancel()))

    const error = await response.catch((reason: unknown) => reason)
    await over

    expect(LamellaError.is(error, 'aborted')).toBe(true)
  })

  it('a cancel that comes when the last word was said changes nothing', async () => {
    const control = new RunControl()
    const agent = new Agent({
      client: scriptedClient(['Done.']),
      middleware: chatMiddleware('late', async (_, callNext) => {
        await callNext()
        void control.cancel({ mode: 'after-model' })
      }),
    })

    expect((await runIn(mode, agent, { control })).status).toBe('completed')
  })

  it('a safe point that does not come in time becomes an abort', async () => {
    const control = new RunControl()
    const agent = new Agent({ client: scriptedClient([{ updates: ['Hel'], hang: true }]) })
    const response = runIn(mode, agent, { control })
    await Promise.resolve()
    const over = control.cancel({ mode: 'after-tools', timeoutMs: 1 })

    const error = await response.catch((reason: unknown) => reason)
    await over

    expect(LamellaError.is(error, 'aborted')).toBe(true)
  })

  it('reaches nested agents: all pause where they are, and all continue', async () => {
    const control = new RunControl()
    const { agent: inner, ran } = make(control, 'tool', () => {})
    const client = scriptedClient([callFunction('worker', { task: 'Work' }, 'd1'), 'All done.'])
    const outer = new Agent({
      client,
      tools: [agentTool(inner, { name: 'worker' })],
      middleware: chatMiddleware('cancel', async (_, callNext) => {
        await callNext()
        void control.cancel({ mode: 'after-tools' })
      }),
    })

    const paused = await runIn(mode, outer, { control })
    const checkpoint = copy(paused.checkpoint!)
    const resumed: AgentResponse = await outer.resume(checkpoint, {})

    expect(paused).toMatchObject({ status: 'paused', reason: 'cancelled', pending: [] })
    expect(resumed).toMatchObject({ status: 'completed', text: 'All done.' })
    expect(ran).toHaveLength(2)
    expect(client.requests).toHaveLength(2)
  })
})

describe('RunControl', () => {
  it('cancels runs that have not begun, and resolves at once where none is under way', async () => {
    const control = new RunControl()
    await control.cancel()

    const client = scriptedClient([])
    const running = new Agent({ client }).run('Hi', { control })

    await expect(running).rejects.toMatchObject({ code: 'aborted' })
  })

  it('of several timeouts the first one over counts', async () => {
    const control = new RunControl()
    const client = scriptedClient([{ updates: ['Hel'], hang: true }])
    const running = new Agent({ client }).run('Hi', { control }).catch((error: unknown) => error)

    void control.cancel({ mode: 'after-tools', timeoutMs: 60_000 })
    await control.cancel({ mode: 'after-tools', timeoutMs: 1 })

    expect(await running).toMatchObject({ code: 'aborted' })
  })

  it('is over when all its runs are, and leaves no timer', async () => {
    vi.useFakeTimers()
    const answers: (() => void)[] = []
    const client = scriptedClient(async () => {
      await new Promise<void>((resolve) => void answers.push(resolve))
      return 'Done.'
    })
    const control = new RunControl()
    const agent = new Agent({ client })
    const runs = [agent.run('One', { control }), agent.run('Two', { control })]
    await vi.waitUntil(() => answers.length === 2)
    let isOver = false

    const cancelling = control.cancel({ mode: 'after-model', timeoutMs: 60_000 })
    void cancelling.then(() => (isOver = true))
    answers[0]!()
    await runs[0]
    await Promise.resolve()
    const early = isOver
    answers[1]!()
    await Promise.all([runs[1], cancelling])

    expect([early, isOver, vi.getTimerCount()]).toEqual([false, true, 0])
    vi.useRealTimers()
  })

  it('sets no timer where no run is under way', async () => {
    vi.useFakeTimers()

    await new RunControl().cancel({ mode: 'after-tools', timeoutMs: 0 })

    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('only becomes more urgent', async () => {
    const control = new RunControl()
    await control.cancel({ mode: 'after-tools' })

    await control.cancel({ mode: 'after-model' })
    await control.cancel({ mode: 'after-tools' })

    expect(control.mode).toBe('after-model')
  })

  it.each([
    [{ mode: 'later' }, '`mode`'],
    [{ timeoutMs: -1 }, '`timeoutMs`'],
    [{ timeoutMs: Number.NaN }, '`timeoutMs`'],
  ])('names what is wrong: %o', (options, problem) => {
    expect(() => new RunControl().cancel(options as never)).toThrow(problem)
  })
})

function copy(checkpoint: Checkpoint): Checkpoint {
  return JSON.parse(JSON.stringify(checkpoint)) as Checkpoint
}
