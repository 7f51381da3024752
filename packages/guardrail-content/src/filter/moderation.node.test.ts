import { inspect } from 'node:util'
import type { GuardrailEvent } from '@lamella/guardrail'
import { Agent, createSession, outcomeOf, tool } from '@lamella/core'
import {
  callFunction,
  describeContract,
  guardrailContract,
  middlewareContract,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it, test } from 'vitest'
import { contentFilter } from './content-filter.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'
import type { Moderator } from '../moderators/moderator.ts'

function moderatorOf(name: string, bad: RegExp): Moderator {
  return {
    name,
    moderate: async (input) => {
      const score = input.type === 'text' && bad.test(input.text) ? 0.8 : 0.1
      return { [name]: { flagged: score > 0.5, score } }
    },
  }
}

const broken: Moderator = { name: 'broken', moderate: async () => Promise.reject(new Error('no')) }
const noFish = moderatorOf('fish', /fish/)
const noTrout = moderatorOf('food', /trout/)
const noFowl = moderatorOf('fowl', /fowl/)

async function judged(text: string, options: ContentFilterOptions): Promise<string | undefined> {
  const client = scriptedClient(() => 'Fine.')
  const { block } = await new Agent({ client, middleware: contentFilter(options) }).run(text)
  return block?.category
}

describe('several moderators', () => {
  test('any of them is enough, and a failure hides nothing that was found', async () => {
    expect(await judged('a fowl', { moderation: [noFish, noFowl] })).toBe('fowl')
    expect(await judged('a fish', { moderation: [noFish, broken] })).toBe('fish')
    expect(await judged('a cat', { moderation: [noFish, broken] })).toBe('guardrail_error')
    expect(await judged('a cat', { moderation: [noFish, noFowl] })).toBeUndefined()
  })

  test('all of them must agree', async () => {
    const options = { moderation: [noFish, noFowl], combine: 'all' } as const

    expect(await judged('a fish', options)).toBeUndefined()
    expect(await judged('a fish and a fowl', options)).toBe('fish')
    expect(await judged('fish', { moderation: [noFish, broken], combine: 'all' })).toBe(
      'guardrail_error',
    )
    expect(await judged('cat', { moderation: [noFish, broken], combine: 'all' })).toBeUndefined()
  })

  test('the first that answers decides', async () => {
    const options = { moderation: [broken, noFowl, noFish], combine: 'first' } as const

    expect(await judged('a fish', options)).toBeUndefined()
    expect(await judged('a fowl', options)).toBe('fowl')
    expect(await judged('x', { moderation: [broken, broken], combine: 'first' })).toBe(
      'guardrail_error',
    )
  })
})

test.each<[unknown]>([
  [null],
  [undefined],
  [true],
  ['safe'],
  [[]],
  [{ fish: 0.1 }],
  [{ fish: { flagged: 'no', score: 0 } }],
  [{ fish: { flagged: false } }],
  [{ fish: { flagged: false, score: Number.NaN } }],
])('an answer without scores is no verdict: %o', async (answer) => {
  const moderation: Moderator = { name: 'odd', moderate: async () => answer as never }

  for (const combine of ['any', 'all', 'first'] as const) {
    expect(await judged('a cat', { moderation, combine })).toBe('guardrail_error')
  }
})

test('the strictest action of what is flagged counts, and the worst category is named', async () => {
  const both: Moderator = {
    name: 'both',
    moderate: async () => ({
      hate: { flagged: true, score: 0.6 },
      spam: { flagged: true, score: 0.9 },
    }),
  }

  expect(await judged('x', { moderation: both, actions: { spam: 'flag' } })).toBe('spam')
  expect(await judged('x', { moderation: both, action: 'flag' })).toBeUndefined()
})

test('a category may be asked for anew beside others that block', async () => {
  const client = scriptedClient(['A trout. And so on.', 'A cat.'], { chunk: 3 })
  const middleware = contentFilter({ moderation: noTrout, actions: { food: 'retry' } })

  const response = await new Agent({ client, middleware })
    .run('Hi', { stream: true })
    .finalResponse()

  expect([response.text, client.requests.length]).toEqual(['A cat.', 2])
})

test('a moderator that hangs is not waited for longer than `timeoutMs`', async () => {
  const events: GuardrailEvent[] = []
  const hanging: Moderator = { name: 'hanging', moderate: () => new Promise(() => {}) }
  const onEvent = (event: GuardrailEvent) => events.push(event)

  expect(await judged('x', { moderation: hanging, timeoutMs: 1, onEvent })).toBe('guardrail_error')
  expect(events[0]?.error).toMatchObject({ code: 'guardrail_timeout' })
})

test('beside the model call, nothing leaves and no tool runs before the verdict', async () => {
  let calls = 0
  const work = tool({ name: 'work', description: 'Works.', execute: () => ++calls })
  const client = scriptedClient([['Let me see.', callFunction('work')], 'Done.'])
  const seen: string[] = []
  let judge: (flagged: boolean) => void = () => {}
  const verdict = new Promise<boolean>((resolve) => (judge = resolve))
  const moderation: Moderator = {
    name: 'slow',
    moderate: async () => ({ hate: { flagged: await verdict, score: 1 } }),
  }
  const options = { moderation, applyTo: ['input'], execution: 'parallel' } as const
  const agent = new Agent({ client, tools: [work], middleware: contentFilter(options) })

  const stream = agent.run('Hello', { stream: true })
  const reading = (async () => {
    for await (const piece of stream.text()) seen.push(piece)
  })()
  while (client.requests.length === 0) await Promise.resolve()
  expect([seen, calls]).toEqual([[], 0])
  judge(true)
  await reading

  expect([(await stream.finalResponse()).status, calls]).toEqual(['blocked', 0])
  expect(seen.join('')).toBe('I cannot help with this request.')
})

test('a blocked text is in no sink', async () => {
  const sinks: unknown[] = []
  const session = createSession()
  const client = scriptedClient(['So. A trout, says he.'])
  const agent = new Agent({
    client,
    middleware: contentFilter({
      words: ['swordfish'],
      moderation: noTrout,
      onEvent: (event) => sinks.push(event),
    }),
  })

  for (const input of ['my swordfish', 'Hello']) {
    const stream = agent.run(input, { session, stream: true })
    for await (const update of stream) sinks.push(update)
    sinks.push(await stream.finalResponse(), await stream.outcome())
  }
  const error: unknown = await agent
    .run('my swordfish', { onBlock: 'throw', onEvent: (event) => sinks.push(event) })
    .catch((thrown: unknown) => thrown)
  sinks.push(session, error, String(error), (error as Error).stack, outcomeOf(error))

  expect(error).toMatchObject({ code: 'guardrail_tripped' })
  expect(inspect(sinks, { depth: 20 })).not.toMatch(/swordfish|trout/)
})

for (const action of ['block', 'replace'] as const) {
  const create = () =>
    contentFilter({
      moderation: noTrout,
      action,
      applyTo: ['input', 'output', 'arguments', 'result'],
    })
  describeContract(
    guardrailContract({
      name: `a moderator, with ${action}`,
      create,
      harmless: ['A cat. And a dog. ', 'so'],
      violations: (['input', 'output', 'arguments', 'result'] as const)
        // A whole text in place of JSON is no JSON any more, and is blocked.
        .map((stage) => ({
          stage,
          action: stage === 'arguments' ? 'block' : action,
          text: 'A cat. Then a trout. A dog.',
          forbidden: 'trout',
        })),
    }),
    { describe, it },
  )
}
const replacing = () => contentFilter({ moderation: noTrout, action: 'replace' })
describeContract(
  middlewareContract({
    name: 'a moderator',
    create: replacing,
    texts: ['A cat. Then a trout. A dog.'],
  }),
  { describe, it },
)
