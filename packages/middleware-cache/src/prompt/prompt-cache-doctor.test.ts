import { Agent, chatMiddleware, createSession } from '@lamella/core'
import type { ChatMiddleware, MiddlewareInput } from '@lamella/core'
import {
  describeContract,
  middlewareContract,
  runIn,
  runModes,
  scriptedClient,
  testClock,
} from '@lamella/testing'
import { models } from '@lamella/models'
import { describe, expect, it } from 'vitest'
import { promptCacheDoctor } from '../index.ts'
import type { PromptCacheEvent, PromptCacheDoctorOptions } from '../index.ts'

const day = (): ChatMiddleware => {
  let call = 0
  return chatMiddleware('clock', async (context, callNext) => {
    context.instructions = `It is call ${call++}.`
    await callNext()
  })
}
const plain = chatMiddleware('plain', async (_context, callNext) => void (await callNext()))
/** Drops the first message from the third call on. */
const dropping = (): ChatMiddleware => {
  let call = 0
  return chatMiddleware('dropping', async (context, callNext) => {
    if (call++ >= 2) context.messages = context.messages.slice(1)
    await callNext()
  })
}
/** Events of four runs in one session, whose provider caches `cached` of 1,000 tokens. */
async function diagnose(
  middleware: MiddlewareInput,
  {
    cached = 800,
    mode = 'plain',
    ...options
  }: PromptCacheDoctorOptions & {
    cached?: number
    mode?: 'plain' | 'streamed'
  } = {},
): Promise<readonly PromptCacheEvent[]> {
  const events: PromptCacheEvent[] = []
  let call = 0
  const client = scriptedClient(
    () => ({
      messages: [{ role: 'assistant', contents: 'Yes.' }],
      // What it had cached is no longer a beginning from the third call on.
      usage: { inputTokens: 1_000, cachedInputTokens: call++ < 2 ? cached : 0, outputTokens: 1 },
    }),
    { model: 'gpt-4o', provider: 'openai' },
  )
  const agent = new Agent({
    client,
    instructions: 'Be brief.',
    middleware: promptCacheDoctor(middleware, {
      ...options,
      onEvent: (event) => events.push(event),
    }),
  })
  const session = createSession()
  for (let run = 0; run < 4; run++) {
    await runIn(mode, agent, { input: `Question ${run}, and more words of it.`, session })
  }
  return events
}

describe.each(runModes)('promptCacheDoctor, %s', (mode) => {
  it('names the middleware that changed what was cached, and the cost', async () => {
    const events = await diagnose([plain, day(), plain], { mode, prices: models })

    expect(events).toHaveLength(3)
    expect(events[1]).toMatchObject({
      middleware: 'clock',
      changed: 'instructions',
      provider: 'openai',
      model: 'gpt-4o',
    })
    const { lostTokens, costUsd } = events[1]!
    expect(lostTokens).toBeGreaterThan(900)
    // A million tokens cost 2.50 dollars, and half of that from the cache.
    expect(costUsd).toBeCloseTo((lostTokens * 1.25) / 1_000_000, 12)
  })

  it('finds the one that cut the history, in the call in which it did', async () => {
    const events = await diagnose([plain, dropping()], { mode })

    expect(
      events.map(({ middleware, changed, message }) => [middleware, changed, message]),
    ).toEqual([['dropping', 'message', 0]])
  })

  it('says nothing where the beginning stays, or nothing was cached', async () => {
    expect(await diagnose([plain, plain], { mode })).toEqual([])
    expect(await diagnose([plain, day()], { mode, cached: 0 })).toEqual([])
  })
})

it('blames no middleware for what changed outside, and forgets what is too old', async () => {
  const clock = testClock()
  const events: PromptCacheEvent[] = []
  const client = scriptedClient(() => ({
    messages: [{ role: 'assistant', contents: 'Yes.' }],
    usage: { inputTokens: 1_000, cachedInputTokens: 500, outputTokens: 1 },
  }))
  const middleware = promptCacheDoctor([plain], { onEvent: (event) => events.push(event) })
  const session = createSession()
  for (const instructions of ['One.', 'Two.']) {
    await new Agent({ client, instructions, middleware, clock }).run('Hi', { session })
  }
  expect(events.map((event) => event.middleware)).toEqual([undefined])

  await clock.advance(300_001)
  await new Agent({ client, instructions: 'Three.', middleware, clock }).run('Hi', { session })
  expect(events).toHaveLength(1)
})

describeContract(
  middlewareContract({
    name: 'a middleware that the doctor watches',
    create: () => promptCacheDoctor([plain]),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)
