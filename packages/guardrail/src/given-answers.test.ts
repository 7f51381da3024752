import type { AgentOptions, MiddlewareInput, RunContext } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  MiddlewareTermination,
  tool,
} from '@lamella/core'
import { interceptLoop } from '@lamella/core/authoring'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { guardrail } from './guardrail.ts'
import type { Verdict } from './verdict.ts'

const secret = 'The code is xyzzy.'

const noCodes = (action: Verdict['action'], options = {}) =>
  guardrail({
    name: 'no-codes',
    applyTo: ['output'],
    check: ({ text }) => {
      const at = text.indexOf('xyzzy')
      if (at < 0) return { action: 'allow' }
      if (action !== 'replace') return { action }
      return { action, replacement: '****', spans: [{ start: at, end: at + 5 }] }
    },
    ...options,
  })

const look = tool({ name: 'look', description: 'Looks.', execute: () => secret })
const direct = tool({
  name: 'look',
  description: 'Looks.',
  returnDirect: true,
  execute: () => secret,
})
const stopping = tool({
  name: 'look',
  description: 'Looks.',
  execute: (_, { run }) => run.stop('enough', { response: secret }),
})
const hook = (interceptor: (run: RunContext) => Parameters<typeof interceptLoop>[1]) =>
  agentMiddleware('hook', (context, callNext) => {
    interceptLoop(context.run, interceptor(context.run))
    return callNext()
  })

/** Ways in which a run gets an answer that its model has not given. */
const ways: readonly (readonly [string, Partial<AgentOptions>, MiddlewareInput])[] = [
  ['a tool whose result is the answer', { tools: [direct] }, []],
  [
    'a tool whose result a hook made the answer',
    { tools: [look] },
    functionMiddleware('direct', ({ run }, callNext) => {
      run.tools.setReturnDirect('look', true)
      return callNext()
    }),
  ],
  ['run.stop() in a tool', { tools: [stopping] }, []],
  [
    'run.stop() in a middleware of the model call',
    { tools: [look] },
    chatMiddleware('stop', ({ run }, callNext) => {
      run.stop('enough', { response: secret })
      return callNext()
    }),
  ],
  [
    'run.stop() before the first model call',
    { tools: [look] },
    hook((run) => ({
      name: 'stop',
      iteration: (_, next) => {
        run.stop('enough', { response: secret })
        return next()
      },
    })),
  ],
  [
    'run.stop() by a middleware that answers for the loop',
    { tools: [look] },
    agentMiddleware('stop', ({ run }) => {
      run.stop('enough', { response: secret })
      return ''
    }),
  ],
  [
    'a termination in a tool call',
    { tools: [look] },
    hook(() => ({
      name: 'end',
      batch: () => {
        throw new MiddlewareTermination('enough', { result: secret })
      },
    })),
  ],
  [
    'a hook that skips the model call',
    { tools: [look] },
    hook(() => ({
      name: 'skip',
      iteration: (context, next) => {
        context.skipModelCall = true
        context.overrideResponse = secret
        return next()
      },
    })),
  ],
]

async function outcomeOf(
  { stream }: { readonly stream: boolean },
  guarded: MiddlewareInput,
  [, options, middleware]: (typeof ways)[number],
) {
  const client = scriptedClient(({ index }) => (index === 0 ? callFunction('look') : 'Done.'))
  const agent = new Agent({ client, middleware: [guarded, middleware], ...options })
  const session = createSession()
  if (!stream) return { response: await agent.run('Go', { session }), session, seen: '' }
  const run = agent.run('Go', { session, stream })
  const seen: unknown[] = []
  for await (const update of run) if (update.role !== 'tool') seen.push(update.contents)
  return { response: await run.finalResponse(), session, seen: JSON.stringify(seen) }
}

const said = (messages: readonly { readonly role: string }[]): string =>
  JSON.stringify(messages.filter(({ role }) => role !== 'tool'))

describe.each([{ stream: false }, { stream: true }])(
  'an answer that no model call gave, stream: $stream',
  (mode) => {
    it.each(ways)('is there without a guardrail: %s', async (...way) => {
      const { response } = await outcomeOf(mode, [], way)

      expect(response.text).toContain('xyzzy')
    })

    it.each(ways)('is judged before anybody reads it: %s', async (...way) => {
      for (const action of ['block', 'retry'] as const) {
        const blocked = await outcomeOf(mode, noCodes(action), way)

        expect(blocked.response.status).toBe('blocked')
        expect(blocked.response.block).toMatchObject({ guardrail: 'no-codes', stage: 'output' })
        expect(blocked.seen + said(blocked.response.messages)).not.toContain('xyzzy')
        expect(said(blocked.session.messages)).not.toContain('xyzzy')
      }
    })

    it.each(ways)('is replaced for the reader and the session: %s', async (...way) => {
      const replaced = await outcomeOf(mode, noCodes('replace'), way)

      expect(replaced.response.text).toContain('The code is ****.')
      expect(replaced.seen + said(replaced.response.messages)).not.toContain('xyzzy')
      expect(said(replaced.session.messages)).not.toContain('xyzzy')
    })

    it.each(ways)('is only reported in shadow mode: %s', async (...way) => {
      const events: unknown[] = []
      const onEvent = (event: unknown): void => void events.push(event)
      const { response } = await outcomeOf(mode, noCodes('block', { mode: 'shadow', onEvent }), way)

      expect(response.text).toContain('xyzzy')
      expect(events).toContainEqual(expect.objectContaining({ status: 'shadow' }))
    })

    it('may be judged at the level of the run', async () => {
      for (const way of ways.slice(0, 5)) {
        const { response } = await outcomeOf(mode, noCodes('block', { level: 'agent' }), way)

        expect(response.status).toBe('blocked')
      }
    })

    it('is judged if it comes from a cache', async () => {
      const way = ['cache', {}, chatMiddleware('cache', () => secret)] as const

      const { response, seen } = await outcomeOf(mode, noCodes('block'), way)

      expect(response.status).toBe('blocked')
      expect(seen).not.toContain('xyzzy')
    })
  },
)
