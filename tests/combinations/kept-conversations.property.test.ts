import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { AzureOpenAIChatClient } from '../../packages/azure-openai/src/index.ts'
import type {
  AgentContext,
  AgentResponse,
  ChatClient,
  Content,
  Message,
  Middleware,
  Session,
} from '../../packages/core/src/index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  MiddlewareTermination,
  tool,
} from '../../packages/core/src/index.ts'
import { historyTruncator, summarizer } from '../../packages/middleware-truncate/src/index.ts'
import { OpenAIChatClient } from '../../packages/openai/src/index.ts'
import { runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'
import type { ModelServer } from '../../packages/testing/src/model-server/model-server.ts'
import { startModelServer } from '../../packages/testing/src/model-server/model-server.ts'
import { isLong } from '../support/runs.ts'

// A provider that keeps a conversation knows what the application has, however a run has ended: what it keeps and
// what is sent are together what a client that keeps nothing would send.

type Said = 'text' | 'call' | 'ask' | 'pick' | 'several' | 'cut' | 'fail' | 'abort'
/** Requests to a server that keeps conversations, as the model reads them, each beside the whole conversation. */
const seen: { kept: unknown[]; whole: unknown[]; sent: number[] } = {
  kept: [],
  whole: [],
  sent: [],
}
/** Answers of the model to the coming requests. */
const answers: Said[] = []
let asked: unknown
let abort = new AbortController()

const callsOf: Readonly<Record<string, readonly string[]>> = {
  call: ['look'],
  ask: ['pay'],
  pick: ['pick'],
  several: ['look', 'pay', 'look'],
}

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer({
    failures: ({ body }) => {
      const isFailure = answers[0] === 'fail' && (body as { store?: boolean }).store === true
      return isFailure ? { errorAfterEvents: 4 } : undefined
    },
    answer: ({ turns }, { body, index }) => {
      const { store, input } = body as { store?: boolean; input: readonly unknown[] }
      if (store !== true) {
        asked = turns
        return { text: 'whole' }
      }
      seen.kept.push(turns)
      seen.whole.push(asked)
      seen.sent.push(input.length)
      const said = answers.shift() ?? 'text'
      if (said === 'abort') abort.abort(new Error('cut'))
      const names = callsOf[said]
      const at = JSON.stringify({ at: index })
      return names === undefined
        ? { text: `Answer ${index}.`, ...(said === 'cut' && { cut: 'length' as const }) }
        : { text: 'One moment.', calls: names.map((name) => ({ name, arguments: at })) }
    },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  for (const list of [seen.kept, seen.whole, seen.sent, answers]) list.length = 0
})

const clients: Readonly<Record<string, () => ChatClient>> = {
  openai: () => new OpenAIChatClient({ baseURL: server.baseURL, apiKey: 'any', model: 'm' }),
  azure: () =>
    new AzureOpenAIChatClient({
      endpoint: server.baseURL.replace(/\/v1$/, ''),
      apiKey: 'any',
      model: 'm',
      api: 'responses',
    }),
}
const tools = [
  tool({ name: 'look', description: 'Looks.', readOnly: true, execute: () => 'seen' }),
  tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 'paid' }),
  tool({ name: 'pick', description: 'Lets the user pick.' }),
]

/** Sends what a request says to a client that keeps nothing, too. */
function comparedWith(open: () => ChatClient, conversation: string | undefined): Middleware {
  return chatMiddleware('compare', async ({ messages, options, instructions }, callNext) => {
    const { tools: offered, toolChoice } = options
    const whole = { ...kept(conversation, false), instructions, tools: offered, toolChoice }
    await open().getResponse([...messages], whole)
    await callNext()
  })
}

/** Options of a call that continues a conversation, if one is given. */
function kept(conversation: string | undefined, store: boolean) {
  const own = { store, ...(conversation !== undefined && { conversation }) }
  return { providerOptions: { openai: own, 'azure-openai': own }, transportRetries: 0 }
}

const mapText = (contents: readonly Content[], map: (text: string) => string): Content[] =>
  contents.map((content) =>
    content.type === 'text' ? { ...content, text: map(content.text) } : content,
  )
const redact = (entry: Message): Message => ({
  ...entry,
  contents: mapText(entry.contents, () => '***'),
})

const block = {
  guardrail: 'g',
  level: 'chat',
  stage: 'output',
  category: 'c',
  message: 'No.',
} as const
const errors = {
  'an end without the answer': () => new MiddlewareTermination('Enough.'),
  'an end with another answer': () => new MiddlewareTermination('Enough.', { result: 'Instead.' }),
  'a block': () => new GuardrailTripped(block),
  'a budget': () => new BudgetExhausted('calls', { limit: 1, used: 2 } as never),
  'a failure': () => new Error('down'),
}

interface Level {
  readonly result: unknown
}
type Act<Context extends Level> = (
  context: Context & { result: string | undefined },
  callNext: () => Promise<unknown>,
  isNow: boolean,
) => Promise<void>

/** Makes middleware of the model calls and of the run that does the same at its `at`-th call. */
function atBoth(act: Act<Level>): Readonly<Record<string, (at: number) => Middleware>> {
  return {
    'of a model call': (at) => {
      let calls = 0
      return chatMiddleware('act', (context, callNext) =>
        act(context as never, callNext, calls++ === at),
      )
    },
    'of the run': () =>
      agentMiddleware('act', (context, callNext) => act(context as never, callNext, true)),
  }
}

const acts: Readonly<Record<string, Readonly<Record<string, (at: number) => Middleware>>>> = {
  ...Object.fromEntries(
    Object.entries(errors).map(([name, error]) => [
      name,
      {
        ...atBoth(async (_, callNext, isNow) => {
          await callNext()
          if (isNow) throw error()
        }),
        'of a tool call': (at: number) =>
          functionMiddleware('act', async (_, callNext) => {
            if (at === 0) await callNext()
            throw error()
          }),
      },
    ]),
  ),
  'an answer without the model': atBoth(async (context, callNext, isNow) => {
    if (isNow) context.result = 'From the cache.'
    else await callNext()
  }),
  'another answer': atBoth(async (context, callNext, isNow) => {
    await callNext()
    if (isNow) context.result = 'Another answer.'
  }),
  'an answer that is changed as it passes': atBoth(async (context, callNext) => {
    ;(context as never as AgentContext).transformUpdates({
      transform: (update, controller) => {
        const contents = mapText(update.contents, (text) => text.toUpperCase())
        controller.enqueue({ ...update, contents })
      },
    })
    await callNext()
  }),
  'an abort of the reader': atBoth(async (context, callNext) => {
    ;(context as never as AgentContext).transformUpdates({
      transform: (update, controller) => {
        abort.abort(new Error('cut'))
        controller.enqueue(update)
      },
    })
    await callNext()
  }),
  'the same again': atBoth(async (_, callNext, isNow) => {
    if (isNow) await callNext().catch(() => undefined)
    await callNext()
  }),
}

/** Makes the middleware of a run that changes its conversation, or none. It acts at a number of its calls. */
const happenings: Readonly<Record<string, (at: number) => Middleware | undefined>> = {
  nothing: () => undefined,
  ...Object.fromEntries(
    Object.entries(acts).flatMap(([name, levels]) =>
      Object.entries(levels).map(([level, make]) => [`${name} ${level}`, make]),
    ),
  ),
  'a stop': () =>
    chatMiddleware('stop', async ({ run }, callNext) => {
      await callNext()
      run.stop('enough', { response: 'Stopped.' })
    }),
  'a history that is rewritten': () =>
    chatMiddleware('rewrite', async ({ run }, callNext) => {
      await callNext()
      run.messages.rewrite((all) => [...all.slice(0, -1).map(redact), ...all.slice(-1)])
    }),
  'a request that is shortened': () =>
    chatMiddleware('shorten', async (context, callNext) => {
      context.messages = context.messages.slice(-1)
      await callNext()
    }),
  'a truncator': () => historyTruncator({ maxMessages: 4 }),
  'a truncator that persists': () => historyTruncator({ maxMessages: 4, persist: true }),
  'a summarizer': () =>
    summarizer({ client: scriptedClient(() => 'They talked.'), maxMessages: 4, keepMessages: 2 }),
}

/** Edits of a session after a run. */
const edits: Readonly<Record<string, (session: Session, at: number) => void>> = {
  nothing: () => undefined,
  redact: (session, at) => {
    session.messages = session.messages.map((entry, index) =>
      index === at ? redact(entry) : entry,
    )
  },
  remove: (session, at) => {
    session.messages = session.messages.filter((_, index) => index !== at)
  },
  truncate: (session, at) => {
    session.messages = session.messages.slice(at)
  },
  // The user asks for another answer, or edits the last question.
  regenerate: (session) => {
    const last = session.messages.findLastIndex(({ role }) => role === 'user')
    session.messages = session.messages.slice(0, Math.max(0, last))
  },
  'store as JSON': (session) => {
    session.messages = JSON.parse(JSON.stringify(session.messages)) as Message[]
  },
}

const sayings: readonly Said[][] = [
  ['text'],
  ['call', 'text'],
  ['call', 'call', 'text'],
  ['several', 'text'],
  ['ask', 'text'],
  ['pick', 'text'],
  ['cut'],
  ['call', 'cut'],
  ['fail'],
  ['call', 'fail'],
  ['abort'],
  ['call', 'abort'],
]
const turn = fc.record({
  said: fc.constantFrom(...sayings),
  happens: fc.oneof(fc.constant('nothing'), fc.constantFrom(...Object.keys(happenings))),
  edit: fc.oneof(fc.constant('nothing'), fc.constantFrom(...Object.keys(edits))),
  at: fc.nat(6),
  when: fc.nat(2),
  mode: fc.constantFrom(...runModes),
  keep: fc.constantFrom('effects', 'all', 'nothing'),
  // Answers what is open in the session or with the checkpoint, or says something else.
  answer: fc.constantFrom('none', 'session', 'checkpoint'),
})

test.each(Object.entries(clients))(
  'what the provider of %s knows and what is sent are the whole conversation',
  async (_, open) => {
    let continued = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 2, maxLength: 6 }),
        fc.boolean(),
        async (turns, isNamed) => {
          answers.length = 0
          const before = isNamed
            ? await open().getResponse('Before.', kept(undefined, true))
            : undefined
          seen.kept.length = seen.whole.length = seen.sent.length = 0
          const session = createSession()
          let last: AgentResponse | undefined
          let picks: readonly string[] = []

          for (const { said, happens, edit, at, when, mode, keep, answer } of turns) {
            answers.splice(0, Infinity, ...said)
            abort = new AbortController()
            const happening = happenings[happens]!(when)
            const compare = comparedWith(open, before?.id)
            const agent = new Agent({
              client: open(),
              tools,
              options: kept(before?.id, true),
              middleware: [...(happening ? [happening] : []), compare],
            })
            const ids = answer === 'none' ? [] : [...session.pending.map(({ id }) => id), ...picks]
            const given = Object.fromEntries(ids.map((id) => [id, true]))
            const options = { session, keep, signal: abort.signal }
            const isResumed = answer === 'checkpoint' && last?.checkpoint !== undefined
            const running = isResumed
              ? agent.resume(
                  last!.checkpoint!,
                  Object.fromEntries(last!.pending.map(({ id }) => [id, true])),
                  options,
                )
              : runIn(mode, agent, {
                  ...options,
                  input: ids.length > 0 ? [] : 'Continue.',
                  ...(ids.length > 0 && { answers: given }),
                })
            last = await running.catch(() => undefined)
            picks = (last?.pending ?? []).flatMap((request) =>
              request.kind === 'function-call' ? request.call.callId : [],
            )
            edits[edit]!(session, at)
          }

          expect(seen.kept).toEqual(seen.whole)
          continued += seen.sent.filter(
            (items, index) => items < (seen.whole[index] as []).length,
          ).length
        },
      ),
      { numRuns: isLong ? 1000 : 15 },
    )
    expect(continued).toBeGreaterThan(0)
  },
  600_000,
)

test.each(runModes)('a conversation without edits is sent once, %s', async (mode) => {
  const session = createSession()
  const agent = new Agent({ client: clients['openai']!(), tools, options: kept(undefined, true) })

  for (let run = 0; run < 3; run++) {
    answers.push('call', 'text')
    await runIn(mode, agent, { session, input: 'Continue.' })
  }

  expect(seen.sent).toEqual([1, 1, 1, 1, 1, 1])
})
