import type { Content, Message, Middleware, Session } from '@lamella/core'
import {
  Agent,
  chatMiddleware,
  createSession,
  functionMiddleware,
  MiddlewareTermination,
  tool,
} from '@lamella/core'
import type { ModelServer } from '@lamella/testing/model-server'
import { startModelServer } from '@lamella/testing/model-server'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/runs.ts'
import { OpenAIChatClient } from '../fetch/openai-chat-client.ts'

/** Requests to a server that keeps conversations, as the model reads them, each beside the whole conversation. */
const seen: { kept: unknown[]; whole: unknown[]; sent: number[] } = {
  kept: [],
  whole: [],
  sent: [],
}
/** Answers of the model to the coming requests. */
const answers: ('text' | 'call')[] = []

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer({
    answer: ({ turns }, { body, index }) => {
      const { store, input } = body as { store?: boolean; input: readonly unknown[] }
      if (store !== true) {
        seen.whole.push(turns)
        return { text: 'whole' }
      }
      seen.kept.push(turns)
      seen.sent.push(input.length)
      return answers.shift() === 'call'
        ? { calls: [{ name: 'look', arguments: `{"at":${index}}` }] }
        : { text: `Answer ${index}.` }
    },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  for (const list of [seen.kept, seen.whole, seen.sent, answers]) list.length = 0
})

const open = () => new OpenAIChatClient({ baseURL: server.baseURL, apiKey: 'any', model: 'm' })
const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
const store = { providerOptions: { openai: { store: true } } }

/** Sends what a request says to a client that keeps nothing, too. */
const compare = chatMiddleware('compare', async ({ messages, options }, callNext) => {
  const { tools, toolChoice } = options
  await open().getResponse([...messages], { tools, toolChoice })
  await callNext()
})

const redact = (entry: Message): Message => ({
  ...entry,
  contents: entry.contents.map(
    (content): Content => (content.type === 'text' ? { ...content, text: '***' } : content),
  ),
})

/** Middleware of a run that changes its conversation, or none. */
const happenings: Readonly<Record<string, readonly Middleware[]>> = {
  nothing: [],
  'an answer from a cache': [
    chatMiddleware('cache', async (context) => void (context.result = 'From the cache.')),
  ],
  'an answer that is replaced': [
    chatMiddleware('replace', async (context, callNext) => {
      await callNext()
      context.result = 'Another answer.'
    }),
  ],
  'an answer that is changed as it passes': [
    chatMiddleware('shout', async (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          const contents = update.contents.map(
            (content): Content =>
              content.type === 'text' ? { ...content, text: content.text.toUpperCase() } : content,
          )
          controller.enqueue({ ...update, contents })
        },
      })
      await callNext()
    }),
  ],
  'an end without the answer': [
    chatMiddleware('end', async (_, callNext) => {
      await callNext()
      throw new MiddlewareTermination('Enough.')
    }),
  ],
  'an end with another answer': [
    chatMiddleware('end', async (_, callNext) => {
      await callNext()
      throw new MiddlewareTermination('Enough.', { result: 'Instead.' })
    }),
  ],
  'an end at a tool': [
    functionMiddleware('end', async () => {
      throw new MiddlewareTermination('Enough.', { result: 'stopped' })
    }),
  ],
  'a failure': [
    functionMiddleware('fail', async () => {
      throw new Error('down')
    }),
  ],
  'a history that is rewritten': [
    chatMiddleware('rewrite', async ({ run }, callNext) => {
      await callNext()
      run.messages.rewrite((all) => [...all.slice(0, -1).map(redact), ...all.slice(-1)])
    }),
  ],
  'a request that is shortened': [
    chatMiddleware('shorten', async (context, callNext) => {
      context.messages = context.messages.slice(-1)
      await callNext()
    }),
  ],
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
  'store as JSON': (session) => {
    session.messages = JSON.parse(JSON.stringify(session.messages)) as Message[]
  },
}

const turn = fc.record({
  answers: fc.constantFrom<('text' | 'call')[]>(
    ['text'],
    ['call', 'text'],
    ['call', 'call', 'text'],
  ),
  happens: fc.constantFrom('nothing', ...Object.keys(happenings)),
  edit: fc.constantFrom('nothing', ...Object.keys(edits)),
  at: fc.nat(6),
  stream: fc.boolean(),
})

test('what OpenAI knows and what is sent are the whole conversation, whatever was edited', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 5 }), async (turns) => {
      const session = createSession()
      seen.kept.length = seen.whole.length = 0

      for (const { answers: given, happens, edit, at, stream } of turns) {
        answers.splice(0, Infinity, ...given)
        const middleware = [...happenings[happens]!, compare]
        const agent = new Agent({ client: open(), tools: [look], options: store, middleware })
        const running = stream
          ? agent.run('Continue.', { session, stream }).outcome()
          : agent.run('Continue.', { session }).catch(() => undefined)
        await running
        edits[edit]!(session, at)
      }

      expect(seen.kept).toEqual(seen.whole)
    }),
    { numRuns: runs(100) },
  )
}, 60_000)

test.each([false, true])(
  'a conversation without edits is sent once, streamed: %s',
  async (stream) => {
    const session = createSession()
    const agent = new Agent({ client: open(), tools: [look], options: store })

    for (let run = 0; run < 3; run++) {
      answers.push('call', 'text')
      const running = agent.run('Continue.', { session, stream: stream as true })
      await (stream ? running.finalResponse() : running)
    }

    expect(seen.sent).toEqual([1, 1, 1, 1, 1, 1])
  },
)
