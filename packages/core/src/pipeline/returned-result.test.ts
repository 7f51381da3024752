import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  AgentMiddleware,
  AgentResponse,
  ChatMiddleware,
  FunctionMiddleware,
} from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware, functionMiddleware, text, tool } from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'

type Middleware = AgentMiddleware | ChatMiddleware | FunctionMiddleware
type Level = Middleware['level']
/** Ways in which a middleware changes the result of its call. */
type Change = (result: never) => unknown

const make = {
  agent: agentMiddleware,
  chat: chatMiddleware,
  function: functionMiddleware,
} as unknown as Record<
  Level,
  (
    name: string,
    process: (context: { result: unknown }, callNext: () => Promise<never>) => unknown,
  ) => Middleware
>
const levels: readonly Level[] = ['agent', 'chat', 'function']

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'found' })

/** A run with one tool call, and what the model read and the caller got. */
async function outcomeWith(mode: 'plain' | 'streamed', ...middleware: Middleware[]) {
  const client = scriptedClient(({ index }) =>
    index === 0 ? callFunction('look', {}, 'c1') : 'Done.',
  )
  const agent = new Agent({ client, tools: [look], middleware })
  const { status, text: words, metadata, messages } = await runIn(mode, agent)
  const said = messages.map(({ role, contents }) => ({ role, contents }))
  return {
    status,
    words,
    metadata,
    said,
    read: JSON.stringify(client.requests.at(-1)?.messages.at(-1)?.contents),
  }
}

const changed = (result: AgentResponse): object => ({
  ...result,
  messages: [...result.messages.slice(0, -1), { role: 'assistant', contents: 'Changed.' }],
})

const changes: readonly (readonly [string, readonly Level[], Change])[] = [
  ['a text', levels, () => 'Other.'],
  ['an empty text', levels, () => ''],
  ['the result with another field', ['agent', 'chat'], marked],
  ['the result with other messages', ['agent', 'chat'], changed],
  ['messages alone', ['agent', 'chat'], () => ({ messages: [text('Mine.')] })],
  ['the result with other contents', ['function'], () => ({ contents: [text('Mine.')] })],
  ['a value, as a tool returns it', ['function'], () => ({ degrees: 3 })],
  ['null, as a tool returns it', ['function'], () => null],
]

function marked(result: AgentResponse): object {
  return { ...result, metadata: { marked: true } }
}

describe.each(runModes)('what a middleware returns, %s', (mode) => {
  describe.each(levels)('at level %s', (level) => {
    it.each(changes.filter(([, where]) => where.includes(level)))(
      'counts as if it were assigned: %s',
      async (_, __, change) => {
        const returning = make[level]('mine', async (_context, callNext) =>
          change(await callNext()),
        )
        const assigning = make[level]('mine', async (context, callNext) => {
          context.result = change(await callNext())
        })
        const untouched = await outcomeWith(mode)

        const returned = await outcomeWith(mode, returning)

        expect(returned).toEqual(await outcomeWith(mode, assigning))
        expect(returned).not.toEqual(untouched)
      },
    )

    it('counts without a call of callNext(), also if it is not a promise', async () => {
      const at = make[level]('mine', () => 'Mine.')

      const { read, words } = await outcomeWith(mode, at)

      expect(level === 'function' ? read : words).toContain('Mine.')
    })

    it.each<[string, (context: { result: unknown }, callNext: () => Promise<never>) => unknown]>([
      ['undefined', (_, callNext) => callNext().then(() => undefined)],
      ['what callNext() resolved to', (_, callNext) => callNext()],
      [
        'what is in context.result',
        async (context, callNext) => {
          await callNext()
          return context.result
        },
      ],
    ])('changes nothing if it is %s', async (_, process) => {
      const outcome = await outcomeWith(mode, make[level]('mine', process))

      expect(outcome).toEqual(await outcomeWith(mode))
    })

    it('leaves an assigned result alone if it is what callNext() resolved to', async () => {
      const assigning = make[level]('mine', async (context, callNext) => {
        const result = await callNext()
        context.result = 'Assigned.'
        return result
      })

      const { read, words } = await outcomeWith(mode, assigning)

      expect(level === 'function' ? read : words).toContain('Assigned.')
    })

    it('is what the middleware outside reads', async () => {
      const seen: unknown[] = []
      const outside = make[level]('outside', async (context, callNext) => {
        const result: unknown = await callNext()
        seen.push(result === context.result, JSON.stringify(result).includes('Mine.'))
      })

      await outcomeWith(
        mode,
        outside,
        make[level]('mine', () => 'Mine.'),
      )

      expect(seen.every(Boolean)).toBe(true)
    })
  })

  it.each(['agent', 'chat'] as const)(
    'at level %s may be the result of an earlier call',
    async (level) => {
      const best = make[level]('best', async (_, callNext) => {
        const first: unknown = await callNext()
        await callNext()
        return first
      })
      const client = scriptedClient(['first', 'second'])

      const { text: words } = await runIn(mode, new Agent({ client, middleware: best }))

      expect(words).toBe('first')
    },
  )

  it.each(
    (['agent', 'chat'] as const).flatMap((level) =>
      [null, 7, true, {}, ['text'], { messages: 7 }].map((value) => [level, value] as const),
    ),
  )('at level %s fails the run if it is %j', async (level, value) => {
    const wrong = make[level]('wrong', () => value)

    await expect(outcomeWith(mode, wrong)).rejects.toMatchObject({
      code: 'middleware_contract',
      middleware: 'wrong',
      message: expect.stringContaining('returned a value that is no result'),
    })
  })

  it('passes the transforms of middleware further out', async () => {
    const redact = chatMiddleware('redact', (context, callNext) => {
      context.transformUpdates({
        transform: (update, out) => out.enqueue({ ...update, contents: update.contents.map(hide) }),
      })
      return callNext()
    })
    const hide = <Content>(content: Content): Content | ReturnType<typeof text> =>
      JSON.stringify(content).includes('secret') ? text('***') : content
    const returning = chatMiddleware('mine', () => 'a secret')

    const { updates, response } = await readUpdates(
      new Agent({ client: scriptedClient([]), middleware: [redact, returning] }),
    )

    expect(JSON.stringify(updates)).not.toContain('secret')
    expect(response.text).toBe('***')
  })

  it('in place of the answer to a call that does not run counts too', async () => {
    const masking: FunctionMiddleware = {
      level: 'function',
      name: 'masking',
      process: (_, callNext) => callNext(),
      processAnswer: () => 'masked',
    }
    const ask = tool({ name: 'ask', description: 'Asks.' })
    const client = scriptedClient([callFunction('ask', {}, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [ask], middleware: masking })
    const paused = await runIn(mode, agent)

    const [request] = paused.pending
    await agent.resume(paused.checkpoint!, { [request!.id]: { result: 'secret' } })

    expect(JSON.stringify(client.requests[1])).toContain('masked')
    expect(JSON.stringify(client.requests[1])).not.toContain('secret')
  })
})
