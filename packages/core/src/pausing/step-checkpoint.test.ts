import type { ScriptedStep } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AgentOptions, Checkpoint } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  defineState,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  outcomeOf,
  tool,
} from '../index.ts'
import { playOn, resultsOf } from '../loop/loop-invariant.test-helper.ts'
import { resumeIn } from './resume-in.test-helper.ts'

class Crash extends Error {}

/** A process that dies when the given checkpoint was written, and another one that continues from it. */
describe.each(runModes)('continuing after a crash, %s', (mode) => {
  const steps = [
    [callFunction('pay', { euro: 1 }, 'c1'), callFunction('pay', { euro: 2 }, 'c2')],
    callFunction('pay', { euro: 3 }, 'c3'),
    'All paid.',
  ] as const satisfies readonly ScriptedStep[]

  function make(client: ReturnType<typeof scriptedClient>, paid: unknown[], options = {}) {
    const pay = tool({
      name: 'pay',
      description: '',
      parameters: jsonSchema({ type: 'object', properties: { euro: { type: 'number' } } }),
      idempotent: true,
      execute: ({ euro }) => {
        paid.push(euro)
        return `paid ${String(euro)}`
      },
    })
    return new Agent({ client, tools: [pay], ...options })
  }

  /** Dies with the `at`th checkpoint, or lives. */
  async function dieAt(at: number, options: Partial<AgentOptions> = {}) {
    const kept: Checkpoint[] = []
    const paid: unknown[] = []
    const client = scriptedClient(steps, { strict: false } as never)
    const onCheckpoint = async (checkpoint: Checkpoint): Promise<void> => {
      await Promise.resolve()
      kept.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
      if (kept.length === at) throw new Crash()
    }
    const response = await runIn(mode, make(client, paid, options), { onCheckpoint }).catch(
      (error: unknown) => {
        if (!(error instanceof Crash)) throw error
      },
    )
    return { kept, paid, response, client }
  }

  it('hands out a checkpoint for answers with calls, results and finished rounds', async () => {
    const { kept, response } = await dieAt(Infinity)

    expect(response?.text).toBe('All paid.')
    expect(
      kept.map(({ journal }) => journal.map(({ kind }) => kind).filter((kind) => kind !== 'state')),
    ).toEqual(
      [4, 6, 6, 9, 12, 13, 15].map((length) =>
        'begin model response calls tool tool call call results model response calls tool call results'
          .split(' ')
          .slice(0, length),
      ),
    )
  })

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'from checkpoint %i it ends as if nothing had happened, and no result that was kept is paid twice',
    async (at) => {
      const whole = await dieAt(Infinity)
      const { kept, paid } = await dieAt(at)
      const last = kept.at(-1)!
      const done = new Set(
        last.journal.flatMap((step) =>
          step.kind === 'tool'
            ? (step.result.contents as readonly { text: string }[]).map(({ text }) => text)
            : [],
        ),
      )
      const rest = scriptedClient(
        steps.slice(last.journal.filter(({ kind }) => kind === 'response').length),
      )
      const paidLater: unknown[] = []
      const agent = make(rest, paidLater)

      const { response } = await playOn(agent, last, {}, { stream: mode === 'streamed' })

      expect(response.status).toBe('completed')
      expect(response.text.endsWith('All paid.')).toBe(true)
      expect(paidLater).toEqual([1, 2, 3].filter((euro) => !done.has(`paid ${euro}`)))
      expect(new Set([...paid, ...paidLater])).toEqual(new Set([1, 2, 3]))
      expect(rest.requests.at(-1)?.messages.map(({ contents }) => contents)).toEqual(
        whole.client.requests.at(-1)?.messages.map(({ contents }) => contents),
      )
    },
  )

  it.each([
    ['by the tool', askingTool],
    ['by a middleware', askingMiddleware],
  ])('what a person had approved is not asked again: %s', async (_, asking) => {
    const paid: unknown[] = []
    const paused = await runIn(mode, asking(make(scriptedClient(steps), paid)), {})
    const kept: Checkpoint[] = []
    const answers = Object.fromEntries(paused.pending.map(({ id }) => [id, true]))
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
      if (returned(checkpoint) > 0) throw new Crash()
    }
    const dying = asking(make(scriptedClient([]), paid))
    const { checkpoint } = paused
    await expect(resumeIn(mode, dying, checkpoint!, answers, { onCheckpoint })).rejects.toThrow(
      Crash,
    )

    const again = asking(make(scriptedClient(steps.slice(1)), paid))
    const response = await resumeIn(mode, again, kept.at(-1)!)

    expect(response.status).toBe('paused')
    expect(response.pending).toHaveLength(1)
    expect(JSON.stringify(response.pending)).toContain('c3')
    expect(new Set(paid)).toEqual(new Set([1, 2]))
    expect(paid.length).toBeLessThanOrEqual(2)
  })

  it('a tool that had begun does not run again, and a middleware may set the real result', async () => {
    const paid: unknown[] = []
    const charge = tool({ name: 'charge', description: '', execute: () => `paid ${paid.push(1)}` })
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
      if (checkpoint.journal.some(({ kind }) => kind === 'tool')) throw new Crash()
    }
    const dying = new Agent({ client: scriptedClient([callFunction('charge')]), tools: [charge] })
    await expect(runIn(mode, dying, { onCheckpoint })).rejects.toThrow(Crash)
    const begun = kept.find(({ journal }) => journal.some(({ kind }) => kind === 'start'))!
    const resultsAfter = async (options: Partial<AgentOptions>): Promise<string> => {
      const client = scriptedClient(['Done.'])
      const store = memoryStore()
      await resumeIn(mode, new Agent({ client, tools: [charge], store, ...options }), begun)
      return JSON.stringify(client.requests[0]!.messages.at(-1)!.contents)
    }
    const lookUp = functionMiddleware('look-up', async (context, callNext) => {
      await callNext().catch(() => (context.result = `the bank knows ${context.callId}`))
    })

    expect(await resultsAfter({})).toContain('"code":"uncertain"')
    expect(await resultsAfter({ middleware: lookUp })).toContain('the bank knows')
    expect(paid).toEqual([1])
  })

  it('a tool that had not begun runs, also where another one had', async () => {
    const charged: unknown[] = []
    const charge = tool({
      name: 'charge',
      description: '',
      execute: (_, { callId }) => void charged.push(callId),
    })
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      if (returned(checkpoint) > 0) throw new Crash()
      kept.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
    }
    const calls = [callFunction('charge', {}, 'c1'), callFunction('charge', {}, 'c2')]
    const options = { tools: [charge], functionInvocation: { maxConcurrency: 1 } }
    const dying = new Agent({ client: scriptedClient([calls]), ...options })
    await expect(runIn(mode, dying, { onCheckpoint })).rejects.toThrow(Crash)

    const client = scriptedClient(['Done.'])
    const { messages } = await resumeIn(mode, new Agent({ client, ...options }), kept.at(-1)!)

    expect(charged).toEqual(['c1', 'c2'])
    expect(resultsOf(messages).map(({ error }) => error?.code)).toEqual(['uncertain', undefined])
  })

  it('state with a schema and rounds allowed go along', async () => {
    const rounds = defineState({
      name: 'rounds',
      initial: () => 0,
      schema: jsonSchema<number>({ type: 'number' }),
    })
    const seen: unknown[] = []
    const options = {
      functionInvocation: { maxIterations: 1 },
      middleware: functionMiddleware('count', async ({ run }, callNext) => {
        run.allowIterations(1)
        seen.push(run.state.update(rounds, (n: number) => n + 1))
        await callNext()
      }),
    }
    const { kept } = await dieAt(4, options)

    const client = scriptedClient(steps.slice(1))
    const response = await resumeIn(mode, make(client, [], options), kept.at(-1)!)

    expect(response.status).toBe('completed')
    expect(seen).toEqual([1, 2, 3])
  })

  it('a middleware around the run sees what was said before the crash', async () => {
    const words = { type: 'text', text: 'The word is swordfish. ' } as const
    const seal = agentMiddleware('seal', async (context, callNext) => {
      await callNext()
      if (context.result!.text.includes('swordfish')) context.result = 'Sealed.'
    })
    const options = { middleware: seal }
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(checkpoint)
      throw new Crash()
    }
    const dying = make(scriptedClient([[words, steps[1]]]), [], options)
    await expect(runIn(mode, dying, { onCheckpoint })).rejects.toThrow(Crash)

    const response = await resumeIn(mode, make(scriptedClient(['Done.']), [], options), kept[0]!)

    expect(response.text).toBe('Sealed.')
    expect(JSON.stringify(response.messages)).not.toContain('swordfish')
  })

  it('an answer counts once where a middleware gave the result and the checkpoint of it failed', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const given: unknown[] = []
    const giving = functionMiddleware('giving', async (context) => {
      given.push(context.callId)
      context.result = 'paid elsewhere'
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1')])
    const agent = new Agent({ client, tools: [pay], middleware: giving })
    const { checkpoint, pending } = await runIn(mode, agent, {})
    const answers = { [pending[0]!.id]: true }
    const onCheckpoint = ({ journal }: Checkpoint): void => {
      if (journal.some(({ kind }) => kind === 'call')) throw new Crash()
    }

    const dying = resumeIn(mode, agent, checkpoint!, answers, { onCheckpoint })

    await expect(dying).rejects.toThrow(Crash)
    const again = resumeIn(mode, agent, checkpoint!, answers)
    await expect(again).rejects.toMatchObject({ code: 'approval_used' })
    expect(given).toEqual(['c1'])
  })

  it('what ran before an agent middleware began anew is in the checkpoints that follow', async () => {
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext().catch(callNext)
    })
    const paid: unknown[] = []
    const agentOf = (client: ReturnType<typeof scriptedClient>): Agent =>
      new Agent({ client, tools: askingTool(make(client, paid)).tools, middleware: again })
    const paused = await runIn(mode, agentOf(scriptedClient([steps[1]])), {})
    const answers = { [paused.pending[0]!.id]: true }
    const client = scriptedClient([new TypeError('busy'), new TypeError('down')])
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      if (client.requests.length === 1) kept.push(checkpoint)
    }
    const running = resumeIn(mode, agentOf(client), paused.checkpoint!, answers, { onCheckpoint })
    await expect(running).rejects.toThrow('down')

    const { status } = await resumeIn(mode, agentOf(scriptedClient(['All paid.'])), kept.at(-1)!)

    expect([status, paid]).toEqual(['completed', [3]])
  })

  it('is over with the run: none of its steps is continued after its end', async () => {
    const { kept, paid, response, client } = await dieAt(Infinity)
    const codes = await Promise.all(
      kept.map((step) =>
        resumeIn(mode, make(client, paid), step).catch(({ code }: { code: string }) => code),
      ),
    )

    expect(response?.status).toBe('completed')
    expect(new Set(codes)).toEqual(new Set(['approval_used']))
    expect(paid).toEqual([1, 2, 3])
  })

  it('a run that a tool had stopped stays stopped', async () => {
    const stopping = (client: ReturnType<typeof scriptedClient>): Agent =>
      new Agent({
        client,
        tools: [
          tool({
            name: 'pay',
            description: '',
            execute: (_, { run }) =>
              run.stop('enough', { response: { messages: 'Enough.', raw: { huge: 1n } } }),
          }),
        ],
      })
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(checkpoint)
      if (returned(checkpoint) > 0) throw new Crash()
    }
    const dying = stopping(scriptedClient([steps[1]]))
    await expect(runIn(mode, dying, { onCheckpoint })).rejects.toThrow(Crash)

    const response = await resumeIn(mode, stopping(scriptedClient([])), kept.at(-1)!)

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough', text: 'Enough.' })
  })

  it('a step whose run failed may be continued at once, and one whose run ended may not', async () => {
    const { kept } = await dieAt(3)
    const paid: unknown[] = []
    const failing = make(scriptedClient([new TypeError('cut')]), paid)
    await expect(resumeIn(mode, failing, kept.at(-1)!)).rejects.toThrow('cut')

    const { text } = await resumeIn(mode, make(scriptedClient(steps.slice(1)), paid), kept.at(-1)!)
    const again = resumeIn(mode, make(scriptedClient([]), paid), kept.at(-1)!)

    expect(text).toContain('All paid.')
    await expect(again).rejects.toMatchObject({ code: 'approval_used' })
  })

  it('a failing keeper of checkpoints fails the run', async () => {
    const agent = make(scriptedClient(steps), [])

    const running = runIn(mode, agent, {
      onCheckpoint: () => Promise.reject(new Error('disk full')),
    })

    await expect(running).rejects.toThrow('disk full')
  })

  it('a pause whose checkpoint cannot be signed fails the run, and what it did is with the error', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })
    const client = scriptedClient([callFunction('gated', {}, 'c1')])
    const digest = vi.spyOn(crypto.subtle, 'digest').mockRejectedValue(new Error('no digest'))
    onTestFinished(() => digest.mockRestore())

    const error: unknown = await runIn(mode, new Agent({ client, tools: [gated] })).catch(
      (thrown: unknown) => thrown,
    )

    expect(error).toMatchObject({ message: 'no digest' })
    expect(outcomeOf(error)?.messages).toHaveLength(2)
  })

  it('a tool that finished inside a sub-agent does not run again', async () => {
    const paid: unknown[] = []
    const outer = (client: ReturnType<typeof scriptedClient>, inner: Agent) =>
      new Agent({ client, tools: [agentTool(inner, { name: 'cashier' })] })
    const cashier = make(scriptedClient([steps[1], 'Never said.']), paid)
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(JSON.parse(JSON.stringify(checkpoint)) as Checkpoint)
      const child = checkpoint.journal.findLast((step) => step.kind === 'agent')?.checkpoint
      if (child !== undefined && returned(child) > 0) throw new Crash()
    }
    const first = outer(scriptedClient([callFunction('cashier', { task: 'Pay' }, 'd1')]), cashier)
    await expect(runIn(mode, first, { onCheckpoint })).rejects.toThrow(Crash)
    const last = kept.at(-1)!
    expect(last.journal.filter(({ kind }) => kind === 'agent')).toHaveLength(1)

    const second = outer(scriptedClient(['Done.']), make(scriptedClient(['Paid 3.']), paid))
    const response = await resumeIn(mode, second, kept.at(-1)!)

    expect(response.text).toBe('Done.')
    expect(JSON.stringify(response.messages)).toContain('Paid 3.')
    expect(paid).toEqual([3])
  })
})

/** The same agent, whose tool waits for an approval. */
function askingTool({ client, tools }: Agent): Agent {
  return new Agent({
    client,
    tools: tools.map((given) => ({ ...given, approval: 'always' }) as typeof given),
  })
}

/** The same agent, with a middleware that asks. */
function askingMiddleware({ client, tools }: Agent): Agent {
  return new Agent({
    client,
    tools,
    middleware: functionMiddleware('approve', async (context, callNext) => {
      const answer = await context.run.interrupt({ approve: context.callId })
      if (answer === true) await callNext()
      else context.result = 'refused'
    }),
  })
}

/** Number of tools that have returned. */
function returned({ journal }: Checkpoint): number {
  return journal.filter(({ kind }) => kind === 'tool').length
}
