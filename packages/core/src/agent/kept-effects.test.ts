import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, test } from 'vitest'
import type { AgentOptions, RunOptions, Session, Tool } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  message,
  MiddlewareTermination,
  outcomeOf,
  textOf,
  tool,
} from '../index.ts'

/** A tool with an effect: it counts what it has paid. */
function payTool(options: Partial<Tool> = {}) {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: '',
    execute: (args) => {
      const { to = 'Ada' } = args as { readonly to?: string }
      paid.push(to)
      return `paid ${to}`
    },
    ...options,
  } as Parameters<typeof tool>[0])
  return { pay, paid }
}

function outlineOf({ messages }: Pick<Session, 'messages'>): string[] {
  return messages.flatMap(({ role, contents }) =>
    contents.map((part) => {
      if (part.type === 'function-result') return `${part.callId}: ${textOf(part.contents)}`
      return part.type === 'function-call' ? `call ${part.callId}` : `${role}: ${textOf([part])}`
    }),
  )
}

const down = new Error('down')
const block = {
  guardrail: 'g',
  level: 'chat',
  stage: 'output',
  category: 'c',
  message: 'No.',
} as const

describe.each(runModes)('a finished effect, %s', (mode) => {
  const pay = callFunction('pay', { to: 'Ada' }, 'c1')
  const round = ['user: Hello', 'call c1', 'c1: paid Ada']

  /** Runs an agent that pays and then meets what `options` put in its way. */
  const endOf = async (
    agent: Partial<AgentOptions>,
    script: Parameters<typeof scriptedClient>[0],
    options: RunOptions = {},
  ) => {
    const session = createSession()
    const client = scriptedClient(script)
    const running = runIn(mode, new Agent({ client, ...agent }), { session, ...options })
    const error: unknown = await running.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { session, error, client }
  }

  it('is in the session after a model call that failed, and the next run reads it', async () => {
    const { pay: payment, paid } = payTool()
    const { session, error } = await endOf({ tools: [payment] }, [pay, down])
    const client = scriptedClient(['Ada has her money.'])

    const { text } = await new Agent({ client, tools: [payment] }).run([], { session })

    expect(text).toBe('Ada has her money.')
    expect(paid).toEqual(['Ada'])
    expect(outlineOf({ messages: client.requests[0]!.messages })).toEqual(round)
    expect(outlineOf({ messages: outcomeOf(error)!.messages })).toEqual(round.slice(1))
  })

  it('is in the session after a budget, a block and a failing middleware, without what was said', async () => {
    const ends = [
      () => new BudgetExhausted('modelCalls', 1),
      () => new GuardrailTripped(block),
      () => down,
    ]
    const kept = await Promise.all(
      ends.flatMap((end) =>
        (['return', 'throw'] as const).map(async (onBlock) => {
          const middleware = chatMiddleware('end', async ({ iteration }, callNext) => {
            if (iteration === 1) throw end()
            await callNext()
          })
          const { pay: payment } = payTool()
          const script = [['I shall pay.', pay] as never]
          return outlineOf((await endOf({ tools: [payment], middleware, onBlock }, script)).session)
        }),
      ),
    )

    for (const outline of kept) expect(outline).toEqual(round)
  })

  it('is in the session where an agent middleware fails, or ends the run, after the loop', async () => {
    const ends = [
      () => down,
      () => new GuardrailTripped(block),
      () => new MiddlewareTermination('enough'),
    ]
    for (const end of ends) {
      const middleware = agentMiddleware('end', async (_, callNext) => {
        await callNext()
        throw end()
      })
      const { pay: payment } = payTool()
      // oxlint-disable-next-line no-await-in-loop
      const { session } = await endOf({ tools: [payment], middleware }, [pay, 'Secret.'])
      expect(outlineOf(session)).toEqual(round)
    }
  })

  it('is in the session where an agent middleware replaced the answer', async () => {
    const middleware = agentMiddleware('replace', async (context, callNext) => {
      await callNext()
      context.result = 'All done.'
    })
    const { pay: payment } = payTool()

    const { session } = await endOf({ tools: [payment], middleware }, [pay, 'Secret.'])

    expect(outlineOf(session)).toEqual([...round, 'assistant: All done.'])
  })

  it('stands behind its call where a middleware took the result out, or a transform cut the updates', async () => {
    const { pay: payment, paid } = payTool()
    const again = callFunction('pay', { to: 'Bob' }, 'c2')
    const forgetful = agentMiddleware('forgetful', async (_, callNext) => {
      const result = await callNext()
      return { ...result, messages: result.messages.filter(({ role }) => role !== 'tool') }
    })
    const cut = agentMiddleware('cut', async (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) => {
          controller.enqueue(update)
          if (update.contents.some(({ type }) => type === 'function-call')) controller.terminate()
        },
      })
      await callNext()
    })

    const taken = await endOf({ tools: [payment], middleware: [forgetful] }, [pay, again, 'Done.'])
    expect(outlineOf(taken.session)).toEqual([
      ...round,
      'call c2',
      'c2: paid Bob',
      'assistant: Done.',
    ])

    paid.length = 0
    const short = await endOf({ tools: [payment], middleware: [cut] }, [pay, again, 'Done.'])
    // A stream that is cut runs no tool.
    const left = mode === 'streamed' ? round.slice(0, 2) : [...round, 'call c2', 'c2: paid Bob']
    expect(outlineOf(short.session)).toEqual(left)
    expect(paid).toEqual(mode === 'streamed' ? [] : ['Ada', 'Bob'])
  })

  it('is in the session after an abort during its sibling, of which nobody knows what it did', async () => {
    const controller = new AbortController()
    const slow = tool({
      name: 'slow',
      description: '',
      execute: async () => {
        await Promise.resolve()
        controller.abort()
        return new Promise(() => {})
      },
    })
    const { pay: paying } = payTool()
    const later = callFunction('pay', { to: 'Bob' }, 'c3')
    const { session, error } = await endOf(
      { tools: [paying, slow], functionInvocation: { maxConcurrency: 2 } },
      [[pay, callFunction('slow', {}, 'c2'), later]],
      { signal: controller.signal },
    )

    const rounds = [
      'call c1',
      'call c2',
      'call c3',
      'c1: paid Ada',
      'c2: Error: Function may have run, its result is unknown.',
      'c3: Error: Tool call invocation was cancelled.',
    ]
    expect(outlineOf(session)).toEqual(['user: Hello', ...rounds])
    expect(outlineOf({ messages: outcomeOf(error)!.messages })).toEqual(rounds)
  })

  it('is in the session after a failing middleware of its sibling, and its own result is withheld after its own', async () => {
    const middleware = functionMiddleware('audit', async (context, callNext) => {
      await callNext()
      if (context.callId === 'c2') throw down
    })
    const { pay: paying } = payTool()
    const { session } = await endOf(
      { tools: [paying], middleware, functionInvocation: { maxConcurrency: 1 } },
      [[pay, callFunction('pay', { to: 'Bob' }, 'c2')]],
    )

    expect(outlineOf(session)).toEqual([
      'user: Hello',
      'call c1',
      'call c2',
      'c1: paid Ada',
      'c2: Error: Function ran, its result is withheld.',
    ])
  })

  it('is in the session without its arguments and result where a guardrail judged the whole run', async () => {
    const middleware = agentMiddleware('judge', async (_, callNext) => {
      await callNext()
      throw new GuardrailTripped({ ...block, level: 'agent' })
    })
    const { pay: paying } = payTool()

    const { session } = await endOf({ tools: [paying], middleware }, [pay, 'Done.'])

    expect(outlineOf(session)).toEqual([
      'user: Hello',
      'call c1',
      'c1: Error: Function ran, its result is withheld.',
    ])
    expect(JSON.stringify(session)).not.toContain('Ada')
  })

  it('is known to the loop that an agent middleware enters again', async () => {
    const middleware = agentMiddleware('again', async (_, callNext) => {
      try {
        await callNext()
      } catch {
        await callNext()
      }
    })
    const { pay: paying, paid } = payTool()

    const { session, client } = await endOf({ tools: [paying], middleware }, [pay, down, 'Done.'])

    expect(outlineOf({ messages: client.requests[2]!.messages })).toEqual(round)
    expect(outlineOf(session)).toEqual([...round, 'assistant: Done.'])
    expect(paid).toEqual(['Ada'])
  })

  it('is what stays: a run of read-only tools that fails leaves the session as it was', async () => {
    const { pay: looking } = payTool({ readOnly: true })

    const { session } = await endOf({ tools: [looking] }, [pay, down])

    expect(session.messages).toEqual([])
  })

  it('does not change the session where the run keeps nothing', async () => {
    const { pay: paying } = payTool()

    const { session } = await endOf({ tools: [paying] }, [pay, down], { keep: 'nothing' })

    expect(session.messages).toEqual([])
  })

  it('is not asked for again by a retry with the same messages', async () => {
    const { pay: paying } = payTool()
    const input = [message('user', 'Pay Ada.')]
    const client = scriptedClient([pay, down, 'Done.'])
    const agent = new Agent({ client, tools: [paying] })
    const session = createSession()
    await runIn(mode, agent, { session, input }).catch(() => {})

    await runIn(mode, agent, { session, input })

    expect(outlineOf(session)).toEqual([
      'user: Pay Ada.',
      'call c1',
      'c1: paid Ada',
      'assistant: Done.',
    ])
  })

  it('stays with the answer that allowed it, where the run fails later', async () => {
    for (const by of ['answers', 'checkpoint'] as const) {
      const { pay: paying, paid } = payTool({ approval: 'always' })
      const client = scriptedClient([['Shall I?', pay], 'Hm.', down, 'Done.'])
      const agent = new Agent({ client, tools: [paying] })
      const session = createSession()
      // oxlint-disable-next-line no-await-in-loop
      const paused = await runIn(mode, agent, { session })
      // oxlint-disable-next-line no-await-in-loop
      await runIn(mode, agent, { session, input: 'Well?' })
      const answers = { [paused.pending[0]!.id]: true }
      const running =
        by === 'answers'
          ? runIn(mode, agent, { session, input: [], answers })
          : agent.resume(paused.checkpoint!, answers, { session })
      // oxlint-disable-next-line no-await-in-loop
      await expect(running).rejects.toThrow('down')

      // oxlint-disable-next-line no-await-in-loop
      await runIn(mode, agent, { session, input: 'And?' })

      expect(session.pending).toEqual([])
      expect(paid).toEqual(['Ada'])
      const read = outlineOf({ messages: client.requests.at(-1)!.messages })
      expect(read.indexOf('c1: paid Ada')).toBe(read.indexOf('call c1') + 1)
    }
  })

  it('leaves a request of its batch open that nobody has answered', async () => {
    const { pay: paying, paid } = payTool({ approval: 'always' })
    const client = scriptedClient([[pay, callFunction('pay', { to: 'Bob' }, 'c2')], 'Done.'])
    const failing = functionMiddleware('fail', async (_, callNext) => {
      await callNext()
      throw down
    })
    const agent = new Agent({ client, tools: [paying] })
    const session = createSession()
    const paused = await runIn(mode, agent, { session })
    const [first, second] = paused.pending.map(({ id }) => id)
    const once = { session, input: [], answers: { [first!]: true }, middleware: failing }
    await expect(runIn(mode, agent, once)).rejects.toThrow('down')

    const { text } = await runIn(mode, agent, { session, input: [], answers: { [second!]: true } })

    expect(text).toBe('Done.')
    expect(paid).toEqual(['Ada', 'Bob'])
    expect(outlineOf(session)).toContain('c2: paid Bob')
  })

  it('leaves what others of its batch wait for open, but for an interrupt', async () => {
    const { pay: paying, paid } = payTool({ approval: 'always' })
    const pick = tool({ name: 'pick', description: '' })
    const ask = tool({
      name: 'ask',
      description: '',
      execute: (_, { run }) => run.interrupt('Sure?'),
    })
    const calls = [
      pay,
      callFunction('pay', { to: 'Bob' }, 'c2'),
      callFunction('pick', {}, 'c3'),
      callFunction('ask', {}, 'c4'),
    ]
    const failing = functionMiddleware('fail', async ({ callId }, callNext) => {
      await callNext()
      if (callId === 'c1') throw down
    })
    const client = scriptedClient([calls, 'Done.'])
    const agent = new Agent({ client, tools: [paying, pick, ask], middleware: failing })
    const session = createSession()
    const { checkpoint, pending } = await runIn(mode, agent, { session })
    const [first, second] = pending.map(({ id }) => id)
    const resumed = agent.resume(checkpoint!, { [first!]: true }, { session })
    await expect(resumed).rejects.toThrow('down')
    const open = session.pending.map(({ id }) => id)

    const answers = { [second!]: true, c3: 'blue' }
    const { text } = await runIn(mode, agent, { session, input: [], answers })

    expect([open, text, paid]).toEqual([[second], 'Done.', ['Ada', 'Bob']])
    const read = outlineOf({ messages: client.requests.at(-1)!.messages })
    expect(read.slice(-4)).toEqual([
      expect.stringMatching(/^c1: /),
      'c2: paid Bob',
      'c3: blue',
      expect.stringMatching(/^c4: .*cancelled/),
    ])
  })
})

it('run() names a `keep` that it does not know', () => {
  const agent = new Agent({ client: scriptedClient([]) })

  expect(() => agent.run('Hello', { keep: 'some' as 'all' })).toThrow(
    'run: `keep` must be one of effects, all, nothing, got "some"',
  )
})

test.each(runModes)(
  'with `keep: all` an effect stays that transforms have not passed on, %s',
  async (mode) => {
    const { pay } = payTool()
    const silent = agentMiddleware('silent', async (context, callNext) => {
      context.transformUpdates({ transform() {} })
      await callNext()
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1'), down])
    const session = createSession()

    const agent = new Agent({ client, tools: [pay], middleware: silent })
    await runIn(mode, agent, { session, keep: 'all' }).catch(() => {})

    expect(outlineOf(session)).toEqual(['user: Hello', 'call c1', 'c1: paid Ada'])
  },
)

test.each(runModes)(
  'call ids that come again in later rounds stay, behind a transform of the run too, %s',
  async (mode) => {
    const { pay } = payTool()
    const pass = agentMiddleware('pass', async (context, callNext) => {
      context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
      await callNext()
    })
    const rounds = ['Ada', 'Bob'].map((to) => callFunction('pay', { to }, 'c1'))
    const agent = new Agent({
      client: scriptedClient([...rounds, 'Done.']),
      tools: [pay],
      middleware: pass,
    })
    const session = createSession()

    await runIn(mode, agent, { session })

    expect(outlineOf(session)).toEqual([
      'user: Hello',
      'call c1',
      'c1: paid Ada',
      'call c1',
      'c1: paid Bob',
      'assistant: Done.',
    ])
  },
)
