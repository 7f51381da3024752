import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, ChatContext, Middleware } from '../index.ts'
import {
  Agent,
  LamellaError,
  agentMiddleware,
  chatMiddleware,
  foldUpdates,
  jsonSchema,
  text,
  tool,
} from '../index.ts'
import { agentPipeline, chatPipeline } from '../authoring.ts'
import { readUpdates } from '../run/run.test-helper.ts'

const cut = new Error('cut')

const retry = chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))
const retryRun = agentMiddleware('retry run', (_, callNext) => callNext().catch(() => callNext()))

function replacing(by: string, level: 'agent' | 'chat' = 'chat'): Middleware {
  const process = async (
    context: { result: unknown },
    callNext: () => Promise<unknown>,
  ): Promise<void> => {
    await callNext()
    context.result = by
  }
  return level === 'chat' ? chatMiddleware('r', process) : agentMiddleware('r', process)
}

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'found',
})

const adding = agentMiddleware('adding', (context, callNext) => {
  context.transformUpdates({
    flush: (controller) => controller.enqueue({ contents: [text('!')] }),
  })
  return callNext()
})

interface Case {
  readonly name: string
  readonly steps: Parameters<typeof scriptedClient>[0]
  readonly middleware: Middleware | readonly Middleware[]
  readonly restarts: readonly ('call' | 'run')[]
}

const cases: readonly Case[] = [
  {
    name: 'a retry after nothing was shown',
    steps: [{ updates: [], error: cut }, 'Right.'],
    middleware: retry,
    restarts: [],
  },
  {
    name: 'a retry after an update without content',
    steps: [{ updates: [{ contents: [], responseId: 'r1' }], error: cut }, 'Right.'],
    middleware: retry,
    restarts: [],
  },
  {
    name: 'a retry after something was shown',
    steps: [{ updates: ['Wro', 'ng'], error: cut }, 'Right.'],
    middleware: retry,
    restarts: ['call'],
  },
  {
    name: 'a retry after one that showed nothing',
    steps: [{ updates: ['Wrong'], error: cut }, { updates: [], error: cut }, 'Right.'],
    middleware: [retry, retry],
    restarts: ['call'],
  },
  {
    name: 'a first answer that is given after a second one has failed',
    steps: ['Right.', { updates: ['Wrong'], error: cut }],
    middleware: chatMiddleware('second opinion', async (context, callNext) => {
      const first = await callNext()
      await callNext().catch(() => {
        context.result = first
      })
    }),
    restarts: ['call', 'call'],
  },
  {
    name: 'a retry in the second round, which leaves the first as it is',
    steps: [['Let me look. ', callFunction('look')], { updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: retry,
    restarts: ['call'],
  },
  {
    name: 'a replaced answer',
    steps: ['Wrong.'],
    middleware: replacing('Right.'),
    restarts: ['call'],
  },
  {
    name: 'an answer replaced twice',
    steps: ['Wrong.'],
    middleware: [replacing('Right.'), replacing('Wrong again.')],
    restarts: ['call', 'call'],
  },
  {
    name: 'a replaced run',
    steps: [['Let me look.', callFunction('look')], 'Wrong.'],
    middleware: replacing('Right.', 'agent'),
    restarts: ['run'],
  },
  {
    name: 'a run that begins anew',
    steps: [['Let me look.', callFunction('look')], { updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: retryRun,
    restarts: ['run'],
  },
  {
    name: 'a run that begins anew after a retry in it',
    steps: [{ updates: ['Wrong'], error: cut }, { updates: ['No'], error: cut }, 'Right.'],
    middleware: [retryRun, retry],
    restarts: ['call', 'run'],
  },
  {
    name: 'a run that begins anew where its middlewares have transforms',
    steps: [['Let me look.', callFunction('look')], { updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: [retryRun, adding],
    restarts: ['run'],
  },
  {
    name: 'a retry in the second round, below a middleware of the run with transforms',
    steps: [['Let me look. ', callFunction('look')], { updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: [adding, retry],
    restarts: ['call'],
  },
  {
    name: 'a retry below a middleware of the run that takes its time',
    steps: [{ updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: [
      agentMiddleware('slow', (context, callNext) => {
        context.transformUpdates({
          async transform(update, controller) {
            await Promise.resolve()
            controller.enqueue(update)
          },
        })
        return callNext()
      }),
      retry,
    ],
    restarts: ['call'],
  },
  {
    name: 'a retry below a middleware of the run that drops what is empty',
    steps: [{ updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: [
      agentMiddleware('dropping', (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            if (update.contents.length > 0) controller.enqueue(update)
          },
        })
        return callNext()
      }),
      retry,
    ],
    restarts: ['call'],
  },
  {
    name: 'a retry in the second round, below a transform of the run',
    steps: [['Let me look. ', callFunction('look')], { updates: ['Wrong'], error: cut }, 'Right.'],
    middleware: [
      agentMiddleware('passing', (context, callNext) => {
        context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
        return callNext()
      }),
      retry,
    ],
    restarts: ['call'],
  },
  {
    name: 'a retry in the second round of what a middleware of the run has dropped',
    steps: [['Let me look. ', callFunction('look')], { updates: ['No'], error: cut }, 'Right.'],
    middleware: [
      agentMiddleware('dropping', (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            const [content] = update.contents
            const isDropped = content?.type === 'text' && content.text === 'No'
            if (content !== undefined && !isDropped) controller.enqueue(update)
          },
        })
        return callNext()
      }),
      retry,
    ],
    restarts: [],
  },
  {
    name: 'a run that begins anew after an event alone',
    steps: ['Right.'],
    middleware: [
      retryRun,
      agentMiddleware('noting', async ({ run, released, metadata }, callNext) => {
        run.emit({ type: 'note' })
        if (run.attempts.length > 0) return callNext()
        run.recordAttempt({ status: 'failed', reason: 'test' })
        metadata['released'] = released
        throw cut
      }),
    ],
    restarts: [],
  },
  {
    name: 'a retry of what a middleware of the run has dropped, after another one',
    steps: [{ updates: ['Wrong'], error: cut }, { updates: ['No'], error: cut }, 'Right.'],
    middleware: [
      agentMiddleware('dropping', (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            const [content] = update.contents
            if (content?.type === 'text' && content.text !== 'No') controller.enqueue(update)
          },
        })
        return callNext()
      }),
      retry,
      retry,
    ],
    restarts: ['call'],
  },
]

function agentOf({ steps, middleware }: Case): Agent {
  return new Agent({ client: scriptedClient(steps, { chunk: 3 }), tools: [look], middleware })
}

describe.each(cases)('$name', (given) => {
  it('the stream says so, and its updates add up to exactly the final response', async () => {
    const { updates, response } = await readUpdates(agentOf(given))

    const restarts = updates.filter(({ restart }) => restart).map(({ scope = 'call' }) => scope)
    expect(restarts).toEqual(given.restarts)
    expect(foldUpdates(updates).messages).toEqual(response.messages)
    expect(response.text).toMatch(/Right\.!?$/)
  })

  it('text() with onRestart ends with exactly the final text', async () => {
    const stream = agentOf(given).run('Hello', { stream: true })
    let shown = ''

    for await (const piece of stream.text({ onRestart: () => (shown = '') })) shown += piece

    expect(shown).toBe((await stream.finalResponse()).text)
  })
})

describe('text() of a stream that begins anew', () => {
  const textOf = async (
    steps: Case['steps'],
    middleware: Case['middleware'],
  ): Promise<string[]> => {
    const agent = new Agent({ client: scriptedClient(steps, { chunk: 2 }), middleware })
    const pieces: string[] = []
    for await (const piece of agent.run('Hello', { stream: true }).text()) pieces.push(piece)
    return pieces
  }

  it('continues where the new text begins like the one that was shown', async () => {
    const pieces = await textOf([{ updates: ['On', 'e '], error: cut }, 'One two.'], retry)

    expect(pieces).toEqual(['On', 'e ', 'tw', 'o.'])
  })

  it('fails where it does not, so that nobody is left with a wrong text', async () => {
    const reading = textOf([{ updates: ['Two'], error: cut }, 'One two.'], retry)

    await expect(reading).rejects.toMatchObject({ code: 'stream_restarted' })
  })

  it('fails where the new text is shorter than what was shown', async () => {
    const reading = textOf([{ updates: ['One two.'], error: cut }, 'One'], retry)

    await expect(reading).rejects.toSatisfy((error) => LamellaError.is(error, 'stream_restarted'))
  })

  it('with onRestart gives all of the text again', async () => {
    const client = scriptedClient([{ updates: ['Two'], error: cut }, 'One two.'], {
      chunk: 'whole',
    })
    const stream = new Agent({ client, middleware: retry }).run('Hello', { stream: true })
    const log: string[] = []

    for await (const piece of stream.text({ onRestart: () => log.push('restart') })) log.push(piece)

    expect(log).toEqual(['Two', 'restart', 'One two.'])
  })
})

it('a restart in a loop of its own leaves the answers of earlier model calls in the stream', async () => {
  const client = scriptedClient(['First.', { updates: ['Wrong'], error: cut }, 'Second.'], {
    chunk: 'whole',
  })
  const calls = chatPipeline([retry])
  const stream = agentPipeline([]).stream(
    { client, messages: 'Hello' },
    async ({ run, messages }, add) => {
      const first = await calls.execute({ client, messages, run })
      const second = await calls.execute({ client, messages, run })
      add([...first.messages, ...second.messages])
    },
  )
  const shown: unknown[] = []

  for await (const { contents, restart } of stream)
    shown.push(restart ?? contents.map((one) => (one.type === 'text' ? one.text : '')).join(''))

  expect(shown.filter((piece) => piece !== '')).toEqual(['First.', 'Wrong', true, 'Second.'])
})

it('a restart reaches a reader who took a pause while the retry was retried', async () => {
  let giveUp!: (error: Error) => void
  const impatient = chatMiddleware('impatient', async (_, callNext) => {
    await Promise.race([callNext(), new Promise((_resolve, reject) => (giveUp = reject))])
  })
  const client = scriptedClient([{ updates: ['Wrong'], hang: true }, 'Right.'], { chunk: 'whole' })
  const agent = new Agent({ client, middleware: [retry, retry, impatient] })
  const shown: unknown[] = []

  for await (const { contents, restart } of agent.run('Hello', { stream: true })) {
    shown.push(restart ?? contents.map((one) => (one.type === 'text' ? one.text : '')).join(''))
    for (let times = shown.length === 1 ? 2 : 0; times > 0; times--) {
      giveUp(cut)
      await new Promise((resolve) => setTimeout(resolve))
    }
  }

  expect(shown.filter((piece) => piece !== '')).toEqual(['Wrong', true, 'Right.'])
})

it('a restart of a pause reaches the caller, though a transform of the run drops it', async () => {
  const dropping = agentMiddleware('dropping', (context, callNext) => {
    context.transformUpdates({
      transform(update, controller) {
        if (update.restart !== true) controller.enqueue(update)
      },
    })
    return callNext()
  })
  const asking = chatMiddleware('asking', async ({ run }, callNext) => {
    await callNext()
    await run.interrupt('May I say that?')
  })
  const client = scriptedClient(['Hm.'])

  const { updates } = await readUpdates(new Agent({ client, middleware: [dropping, asking] }))

  expect(updates.map(({ restart }) => restart === true)).toContain(true)
})

describe('context.released', () => {
  it('says whether content of this call has reached the caller', async () => {
    const seen: boolean[] = []
    const observe = chatMiddleware('observe', async (context, callNext) => {
      seen.push(context.released)
      context.transformUpdates({
        transform(update, controller) {
          seen.push(context.released)
          controller.enqueue(update)
        },
      })
      await callNext()
      seen.push(context.released)
    })
    const client = scriptedClient(['one two'])

    await readUpdates(new Agent({ client, middleware: observe }))

    expect(seen).toEqual([false, false, true, true, true])
  })

  it('is not true because of tool results that came before the call', async () => {
    const seen: boolean[] = []
    const observe = chatMiddleware('observe', async (context, callNext) => {
      await callNext().catch(() => {
        seen.push(context.released)
        context.result = 'Recovered.'
      })
    })
    const client = scriptedClient([callFunction('look'), new Error('refused')])

    await readUpdates(new Agent({ client, tools: [look], middleware: observe }))

    expect(seen).toEqual([false])
  })

  it('is not true while a middleware of the run holds the content, whatever came before', async () => {
    const seen: boolean[] = []
    let current: ChatContext | undefined
    const noting = chatMiddleware('noting', (context, callNext) => {
      current = context
      return callNext()
    })
    const holding = agentMiddleware('holding', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (update.role === 'assistant') seen.push(current!.released)
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const client = scriptedClient([['Let me look.', callFunction('look')], 'Right.'], {
      chunk: 'whole',
    })

    await readUpdates(new Agent({ client, tools: [look], middleware: [holding, noting] }))

    expect(seen).toEqual([false, true, false])
  })

  it('stays true when the call begins anew', async () => {
    const seen: boolean[] = []
    const observing = chatMiddleware('observing', async (context, callNext) => {
      await callNext().catch(() => callNext())
      seen.push(context.released)
    })
    const client = scriptedClient([{ updates: ['Wrong'], error: cut }, { updates: [] }])

    await readUpdates(new Agent({ client, middleware: observing }))

    expect(seen).toEqual([true])
  })

  it('of a run is true as soon as anything of it was shown', async () => {
    const seen: boolean[] = []
    const observing = agentMiddleware('observing', async (context, callNext) => {
      seen.push(context.released)
      await callNext()
      seen.push(context.released)
    })

    await readUpdates(new Agent({ client: scriptedClient(['Done.']), middleware: observing }))

    expect(seen).toEqual([false, true])
  })

  it('is never true in a plain run', async () => {
    const seen: boolean[] = []
    const observing = chatMiddleware('observing', async (context, callNext) => {
      await callNext()
      seen.push(context.released)
    })
    const response: AgentResponse = await new Agent({
      client: scriptedClient(['Done.']),
      middleware: observing,
    }).run('Hello')

    expect([seen, response.text]).toEqual([[false], 'Done.'])
  })
})
