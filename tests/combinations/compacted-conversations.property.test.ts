import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Middleware } from '../../packages/core/src/index.ts'
import { Agent, isProviderError, jsonSchema, tool } from '../../packages/core/src/index.ts'
import {
  historyTruncator,
  patchToolCalls,
  summarizer,
} from '../../packages/middleware-truncate/src/index.ts'
import { runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import type { Wire } from '../provider-harness/swap-problems.ts'
import { wires } from '../provider-harness/swap-problems.ts'
import { providers } from '../provider-harness/swap-providers.ts'
import { runs } from '../support/runs.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const compactions: Readonly<Record<string, () => Middleware>> = {
  truncator: () => historyTruncator({ maxMessages: 5 }),
  'persisting truncator': () => historyTruncator({ maxMessages: 4, persist: true }),
  'truncator of the run': () => historyTruncator({ maxMessages: 4, keep: { currentRun: false } }),
  'clearing truncator': () => historyTruncator({ maxTokens: 700, clearResults: { keep: 0 } }),
  summarizer: () =>
    summarizer({ client: scriptedClient(() => 'They talked.'), maxMessages: 5, keepMessages: 2 }),
  patch: () => patchToolCalls(),
}

const cities = ['Rome', 'Oslo', 'Lima'] as const
/** Calls of one model response; none is an answer. */
const response = fc.subarray([...cities])
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ responses: fc.array(response, { maxLength: 2 }), at: fc.constant(-1) }),
  },
  // Answers one of the open requests.
  {
    weight: 2,
    arbitrary: fc.record({ responses: fc.array(response, { maxLength: 1 }), at: fc.nat(5) }),
  },
)
const conversation = fc.record({
  provider: fc.constantFrom(...providers),
  mode: fc.constantFrom(...runModes),
  middleware: fc.subarray(Object.keys(compactions)),
  // Cities for which somebody is asked first.
  asks: fc.subarray([...cities]),
  actions: fc.array(action, { minLength: 3, maxLength: 8 }),
})

test('every request of a conversation is valid, and has the result of each tool that ran', async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(conversation, async ({ provider, mode, middleware, asks, actions }) => {
      const { mark, model } = provider
      const effects: string[] = []
      const weather = tool({
        name: 'get_weather',
        description: 'Tells the weather.',
        parameters: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
        approval: ({ arguments: { city } }) => asks.includes(city as (typeof cities)[number]),
        execute: ({ city }) => {
          effects.push(`sunny in ${String(city)}, ${effects.length}`)
          return effects.at(-1)
        },
      })
      const coming: (readonly string[])[] = []
      const unread: string[] = []
      let round = 0
      server.handler = (reply, request) => {
        const body = request.body as Wire
        const sent = JSON.stringify(body)
        unread.push(...effects.slice(read).filter((effect) => !sent.includes(effect)))
        read = effects.length
        bodies.push(body)
        const calls = coming.shift() ?? []
        const said = { mark, model, round: round++, text: `Round ${round}.` }
        void provider.reply(calls.length > 0 ? { ...said, cities: calls } : said)(reply, request)
      }
      let read = 0
      const bodies: Wire[] = []
      const agent = new Agent({
        client: provider.open(server.url),
        tools: [weather],
        instructions: 'Be brief.',
        middleware: middleware.map((name) => compactions[name]!()),
      })
      const session = agent.createSession()

      for (const { responses, at } of actions) {
        // The calls of one response wait at a time.
        const isOpen = session.pending.length > 0
        const isWanted = (city: (typeof cities)[number]): boolean => !isOpen || !asks.includes(city)
        coming.splice(0, Infinity, ...responses.map((calls) => calls.filter(isWanted)))
        const request = session.pending[at]
        if (at >= 0 && request === undefined) continue
        if (request !== undefined) answered++
        const input = request === undefined ? `Question ${round}?` : []
        const answers = request === undefined ? undefined : { [request.id]: true }
        await runIn(mode, agent, { input, session, ...(answers && { answers }) }).catch((error) => {
          // What must stay may be more than the limit of tokens.
          if (!isProviderError(error) || error.kind !== 'context_length') throw error
          read = effects.length
        })
      }

      expect(unread).toEqual([])
      for (const body of bodies) {
        const problems = provider.problems(body)
        expect({ problems, body }).toEqual({ problems: [], body })
        const last = wires(body['messages']).at(-1)?.['role']
        expect(provider.name === 'Anthropic' ? last : 'user').toBe('user')
      }
    }),
    { numRuns: runs(500) },
  )
  expect(answered).toBeGreaterThan(0)
}, 300_000)
