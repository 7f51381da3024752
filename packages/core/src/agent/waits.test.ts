import type { RunMode } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { callWithin } from '../authoring/call-within.ts'
import type {
  AgentOptions,
  AgentResponse,
  ChatResponse,
  ChatResponseUpdate,
  KeyValueStore,
  RunOptions,
  Schema,
} from '../index.ts'
import {
  Agent,
  BaseChatClient,
  RunControl,
  agentMiddleware,
  chatMiddleware,
  createSession,
  defineState,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { sessions } from '@lamella/store'

/** Begins to wait for something that never comes, whoever aborts. */
type Hang = () => Promise<never>
type Case = (hang: Hang) => Partial<AgentOptions> & { readonly run?: RunOptions }

class DeafClient extends BaseChatClient {
  readonly provider = 'deaf'
  readonly #hang: Hang
  readonly #first: readonly ChatResponseUpdate[]

  constructor(hang: Hang, first: readonly ChatResponseUpdate[] = []) {
    super()
    this.#hang = hang
    this.#first = first
  }

  respond(): Promise<ChatResponse> {
    return this.#hang()
  }

  stream(): AsyncIterable<ChatResponseUpdate> {
    const updates = [...this.#first]
    const next = async (): Promise<IteratorResult<ChatResponseUpdate>> => {
      const value = updates.shift()
      return value === undefined ? this.#hang() : { done: false, value }
    }
    // An iterator whose return() waits as well.
    return { [Symbol.asyncIterator]: () => ({ next, return: () => new Promise(() => {}) }) }
  }
}

const calls = scriptedClient(() => callFunction('work', { n: 1 }))
const answers = scriptedClient(() => '{ "n": 1 }')
const deafSchema = (hang: Hang): Schema<{ n: number }> => ({
  '~standard': {
    version: 1,
    vendor: 'deaf',
    validate: hang,
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
})
const work = (options: object = {}) => [
  tool({ name: 'work', description: '', execute: () => 'done', ...options }),
]
const deafStore = (hang: Hang): KeyValueStore => ({
  ...memoryStore(),
  get: hang,
  compareAndSet: hang,
})
const notes = defineState({
  name: 'notes',
  version: 1,
  scope: 'tenant',
  initial: () => 0,
  schema: jsonSchema<number>({ type: 'number' }),
})

const cases: Readonly<Record<string, Case>> = {
  'a client that ignores its signal': (hang) => ({ client: new DeafClient(hang) }),
  'a client that ignores it after its first words': (hang) => ({
    client: new DeafClient(hang, [{ contents: [{ type: 'text', text: 'Well' }] }]),
  }),
  'a tool': (hang) => ({ client: calls, tools: work({ execute: hang }) }),
  'a tool with a time limit': (hang) => ({
    client: calls,
    tools: work({ execute: hang, timeoutMs: 60_000 }),
  }),
  'a tool that streams': (hang) => ({
    client: calls,
    tools: work({
      async *execute() {
        yield await hang()
      },
    }),
  }),
  'the schema of a tool': (hang) => ({
    client: calls,
    tools: work({ parameters: deafSchema(hang) }),
  }),
  'the schema of a tool, for edited arguments': (hang) => {
    let isSecond = false
    const validate = (value: unknown): Promise<never> | { value: unknown } => {
      if (isSecond) return hang()
      isSecond = true
      return { value }
    }
    return {
      client: calls,
      tools: work({ parameters: deafSchema(validate as Hang) }),
      middleware: functionMiddleware('edit', (context, callNext) => {
        context.arguments = { n: 2 }
        return callNext()
      }),
    }
  },
  'the schema of the response': (hang) => ({
    client: answers,
    options: { responseFormat: { schema: deafSchema(hang) } },
  }),
  'an approval function': (hang) => ({ client: calls, tools: work({ approval: hang }) }),
  'a handler of unknown tools': (hang) => ({
    client: calls,
    functionInvocation: { onUnknownTool: hang },
  }),
  onCheckpoint: (hang) => ({ client: calls, tools: work(), run: { onCheckpoint: hang } }),
  'a transform of a model call': (hang) => ({
    client: answers,
    middleware: chatMiddleware('transform', (context, callNext) => {
      context.transformUpdates({ transform: hang })
      return callNext()
    }),
  }),
  'the end of a transform of a model call': (hang) => ({
    client: answers,
    middleware: chatMiddleware('transform', (context, callNext) => {
      context.transformUpdates({ flush: hang })
      return callNext()
    }),
  }),
  'a transform of a run': (hang) => ({
    client: answers,
    middleware: agentMiddleware('transform', (context, callNext) => {
      context.transformUpdates({ transform: hang })
      return callNext()
    }),
  }),
  'the start of a transform of a run': (hang) => ({
    client: answers,
    middleware: agentMiddleware('transform', (context, callNext) => {
      context.transformUpdates({ start: hang })
      return callNext()
    }),
  }),
  'a verdict that holds tools back': (hang) => ({
    client: calls,
    tools: work(),
    middleware: chatMiddleware('judge', async ({ run }, callNext) => {
      await callNext()
      run.holdTools(hang())
    }),
  }),
  'state of a tenant': (hang) => ({
    client: calls,
    tools: work({
      execute: (
        _: unknown,
        { run }: { run: { state: { load(cell: unknown): Promise<unknown> } } },
      ) => run.state.load(notes),
    }),
    store: deafStore(hang),
    storeTimeoutMs: 60_000,
    run: { tenant: 'a' },
  }),
  'a session that is loaded': (hang) => ({
    client: answers,
    run: { session: sessions(deafStore(hang), { storeTimeoutMs: 60_000 }).at('s') },
  }),
  'an agent middleware': (hang) => ({
    client: answers,
    middleware: agentMiddleware('waits', async (_, callNext) => {
      await hang()
      await callNext()
    }),
  }),
  'an agent middleware, after callNext()': (hang) => ({
    client: answers,
    middleware: agentMiddleware('waits', async (_, callNext) => {
      await callNext()
      await hang()
    }),
  }),
  'a chat middleware': (hang) => ({
    client: answers,
    middleware: chatMiddleware('waits', async (_, callNext) => {
      await hang()
      await callNext()
    }),
  }),
  'a function middleware': (hang) => ({
    client: calls,
    tools: work(),
    middleware: functionMiddleware('waits', async (_, callNext) => {
      await hang()
      await callNext()
    }),
  }),
  setup: (hang) => ({ client: answers, middleware: lifecycle({ name: 'waits', setup: hang }) }),
  beforeTurn: (hang) => ({
    client: answers,
    middleware: lifecycle({ name: 'waits', beforeTurn: hang }),
  }),
  afterModelCall: (hang) => ({
    client: answers,
    middleware: lifecycle({ name: 'waits', afterModelCall: hang }),
  }),
  beforeToolExecution: (hang) => ({
    client: calls,
    tools: work(),
    middleware: lifecycle({ name: 'waits', beforeToolExecution: hang }),
  }),
  afterFunction: (hang) => ({
    client: calls,
    tools: work(),
    middleware: lifecycle({ name: 'waits', afterFunction: hang }),
  }),
  'another run of its session': (hang) => {
    const session = createSession()
    const other = new Agent({ client: new DeafClient(hang) })
    other.run('Hi', { session, signal: over.signal }).catch(() => {})
    return { client: answers, run: { session } }
  },
}

const over = new AbortController()
afterAll(() => over.abort())

const ways: Readonly<Record<string, (abort: AbortController, control: RunControl) => void>> = {
  'the signal': (abort) => abort.abort(new Error('enough')),
  'the control': (_, control) => void control.cancel(),
}

async function begin(mode: RunMode, make: Case) {
  let begun!: () => void
  const waiting = new Promise<void>((resolve) => (begun = resolve))
  const {
    run = {},
    client = answers,
    ...options
  } = make(() => {
    begun()
    return new Promise(() => {})
  })
  const agent = new Agent({ client, ...options })
  const abort = new AbortController()
  const control = new RunControl()
  const given = { ...run, signal: abort.signal, control }
  const stream = mode === 'streamed' ? agent.run('Hi', { ...given, stream: true }) : undefined
  const done: Promise<AgentResponse> = stream?.finalResponse() ?? agent.run('Hi', given)
  done.catch(() => {})
  await waiting
  return { done, stream, abort, control }
}

/** Resolves to how something ended, or says that it hangs. Counts turns, which a busy machine has as many of. */
async function ending(promise: Promise<unknown>): Promise<string> {
  const ends: string[] = []
  promise.then(
    () => ends.push('done'),
    () => ends.push('rejected'),
  )
  for (let turn = 0; turn < 500 && ends.length === 0; turn++) {
    await new Promise((resolve) => setTimeout(resolve))
  }
  return ends[0] ?? 'hangs'
}

describe.each(Object.keys(cases))('a run that waits for %s', (name) => {
  const make = cases[name]!

  it.each(
    Object.keys(ways).flatMap((way) => [['plain', way] as const, ['streamed', way] as const]),
  )('ends at once, %s, by %s', async (mode, way) => {
    const { done, abort, control } = await begin(mode, make)

    ways[way]!(abort, control)

    expect(await ending(done)).toBe('rejected')
  })

  it('ends at once when its stream is cancelled', async () => {
    const { done, stream } = await begin('streamed', make)

    void stream!.cancel().catch(() => {})

    expect(await ending(done)).toBe('rejected')
  })
})

describe('a model call without an agent', () => {
  it.each(['plain', 'streamed'] as const)(
    'does not wait for its middleware after an abort, %s',
    async (mode) => {
      let begun!: () => void
      const waiting = new Promise<void>((resolve) => (begun = resolve))
      const middleware = chatMiddleware('waits', () => {
        begun()
        return new Promise(() => {})
      })
      const client = scriptedClient(['Hello.'], { middleware })
      const abort = new AbortController()
      const { signal } = abort
      const call =
        mode === 'plain'
          ? client.getResponse('Hi', { signal })
          : client.getResponse('Hi', { signal, stream: true }).finalResponse()
      call.catch(() => {})
      await waiting

      abort.abort(new Error('enough'))

      expect(await ending(call)).toBe('rejected')
    },
  )
})

describe.each(['plain', 'streamed'] as const)('after the run was aborted, %s', (mode) => {
  const levels = {
    agent: agentMiddleware,
    chat: chatMiddleware,
    function: functionMiddleware,
  } as const

  it.each(Object.keys(levels) as (keyof typeof levels)[])(
    'a %s middleware that calls callNext() starts nothing any more',
    async (level) => {
      const ran: string[] = []
      let resume!: () => void
      let late: Promise<unknown> | undefined
      const { done, abort } = await begin(mode, (hang) => ({
        client: scriptedClient(() => {
          ran.push('model')
          return callFunction('work', {}, 'c1')
        }),
        tools: work({ execute: () => void ran.push('tool') }),
        middleware: levels[level]('late', async (_: unknown, callNext: () => Promise<unknown>) => {
          void hang()
          await new Promise<void>((resolve) => (resume = resolve))
          late = callNext()
          await late
        }),
      }))
      const before = [...ran]

      abort.abort(new Error('enough'))
      await expect(done).rejects.toThrow('enough')
      resume()
      await new Promise((resolve) => setTimeout(resolve))

      await expect(late).rejects.toThrow('enough')
      expect(ran).toEqual(before)
    },
  )

  it('a middleware that answers in response changes nothing', async () => {
    const { done, abort } = await begin(mode, (hang) => ({
      client: new DeafClient(hang),
      middleware: agentMiddleware('calm', async (context, callNext) => {
        await callNext().catch(() => (context.result = 'Never mind.'))
      }),
    }))

    abort.abort(new Error('enough'))

    await expect(done).rejects.toThrow('enough')
  })

  it('what its middlewares do at once in response is done before it ends', async () => {
    const log: string[] = []
    const { done, abort } = await begin(mode, (hang) => ({
      client: new DeafClient(hang),
      middleware: [
        lifecycle({ name: 'log', afterTurn: (_, error) => void log.push(String(error)) }),
        chatMiddleware('log', (_, callNext) => callNext().finally(() => log.push('finally'))),
      ],
    }))

    abort.abort(new Error('enough'))
    await done.catch(() => log.push('rejected'))

    expect(log).toEqual(['finally', 'Error: enough', 'rejected'])
  })
})

describe('a middleware that gives up', () => {
  const clock = {
    now: () => Date.now(),
    sleep: () => new Promise<void>((resolve) => setTimeout(resolve)),
  }
  const late = async (): Promise<Error> => new Error('too late')

  it.each(['plain', 'streamed'] as const)(
    'ends a call that ignores its signal, %s',
    async (mode) => {
      const client = new DeafClient(() => new Promise(() => {}))
      const middleware = [
        chatMiddleware('fallback', async (context, callNext) => {
          await callNext().catch(() => (context.result = 'Another answer.'))
        }),
        chatMiddleware('limit', async (context, callNext) => {
          await callWithin(context, callNext, { clock, late })
        }),
      ]
      const agent = new Agent({ client, middleware })
      const run =
        mode === 'plain' ? agent.run('Hi') : agent.run('Hi', { stream: true }).finalResponse()

      expect((await run).text).toBe('Another answer.')
    },
  )
})

describe.each(['plain', 'streamed'] as const)('a middleware that nobody waits for, %s', (mode) => {
  it('changes nothing any more', async () => {
    const problems: unknown[] = []
    let resume!: () => void
    const resumed = new Promise<void>((resolve) => (resume = resolve))
    let attempts = 0
    const middleware = [
      chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext())),
      chatMiddleware('gives up', async (_, callNext) => {
        if (attempts++ > 0) return callNext()
        return Promise.race([callNext(), Promise.reject(new Error('too slow'))])
      }),
      chatMiddleware('slow', async (context, callNext) => {
        if (attempts > 1) {
          const response = await callNext()
          resume()
          await new Promise((resolve) => setTimeout(resolve))
          return response
        }
        await resumed
        await callNext().catch((error: unknown) => problems.push(error))
        context.result = 'Too late.'
        return undefined
      }),
    ]
    const client = scriptedClient(() => 'In time.')
    const agent = new Agent({ client, middleware })

    const response = await (mode === 'plain'
      ? agent.run('Hi')
      : agent.run('Hi', { stream: true }).finalResponse())

    expect(response.text).toBe('In time.')
    expect(client.requests).toHaveLength(1)
    expect(problems).toMatchObject([{ code: 'middleware_contract', middleware: 'slow' }])
  })
})

describe('a reader who leaves', () => {
  it('ends a stream whose source ignores its signal, and whose return() never settles', async () => {
    const client = new DeafClient(
      () => new Promise(() => {}),
      [{ contents: [{ type: 'text', text: 'Well' }] }],
    )
    const stream = new Agent({ client }).run('Hi', { stream: true })

    const read = (async () => {
      for await (const _ of stream) break
    })()

    expect(await ending(read)).toBe('done')
  })
})
