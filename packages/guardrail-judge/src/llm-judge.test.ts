import type { GuardrailEvent } from '@lamella/guardrail'
import type { KeyValueStore, RunEvent } from '@lamella/core'
import { Agent, createSession, memoryStore, message, outcomeOf, ProviderError } from '@lamella/core'
import {
  describeContract,
  guardrailContract,
  middlewareContract,
  runIn,
  runModes,
  scriptedClient,
  testClock,
} from '@lamella/testing'
import { describe, expect, it, test, vi } from 'vitest'
import type { LlmJudgeOptions } from './index.ts'
import { llmJudge } from './index.ts'
import { fishJudge, noFish, questionOf, scriptedJudge } from './scripted-judge.test-helper.ts'

type Setting = Partial<LlmJudgeOptions>

function setUp(answers: readonly string[], setting: Setting = {}) {
  const judge = (setting.client as ReturnType<typeof fishJudge> | undefined) ?? fishJudge()
  const client = scriptedClient(answers)
  const middleware = llmJudge({ criteria: noFish, ...setting, client: judge })
  const agent = new Agent({ client, middleware })
  return { agent, client, judge }
}

describe.each([false, true])('streamed: %s', (stream) => {
  const ask = async ({ agent }: { agent: Agent }, input = 'What is for lunch?') =>
    stream ? agent.run(input, { stream: true }).finalResponse() : agent.run(input)

  test('a text that passes is let through', async () => {
    const response = await ask(setUp(['Soup.']))

    expect(response).toMatchObject({ status: 'completed', text: 'Soup.' })
  })

  test('a text that does not pass is blocked, with the criterion as category', async () => {
    const response = await ask(setUp(['Fish.']))

    expect(response.block).toMatchObject({ guardrail: 'judge', stage: 'output', category: 'fish' })
    expect(JSON.stringify(response)).not.toContain('Fish.')
  })

  test('the model can be asked again, and told why', async () => {
    const setting = setUp(['Fish.', 'Soup.'], { action: 'retry' })

    const response = await ask(setting)

    expect(response.text).toBe('Soup.')
    expect(JSON.stringify(setting.client.requests[1]?.messages.at(-1))).toContain('No fish.')
  })

  test('a text can be replaced or flagged instead', async () => {
    const replaced = await ask(setUp(['Fish.'], { action: 'replace' }))
    const flagged = await ask(setUp(['Fish.'], { action: 'flag' }))

    expect(replaced.text).toBe('[removed]')
    expect(flagged.text).toBe('Fish.')
  })

  test('input is judged before the model is called', async () => {
    const setting = setUp([], { applyTo: ['input'] })

    const response = await ask(setting, 'Is there fish?')

    expect(response.block?.stage).toBe('input')
    expect(setting.client.requests).toEqual([])
  })
})

test('an answer without text is not judged', async () => {
  const { agent, judge } = setUp([''])

  const response = await agent.run('Lunch?')

  expect(response.status).toBe('completed')
  expect(judge.requests).toEqual([])
})

test('a block repeats nothing of what it blocked, anywhere', async () => {
  const seen: unknown[] = []
  const session = createSession()
  const client = scriptedClient(() => 'Zebra fish.')
  const onEvent = (event: GuardrailEvent) => seen.push(event)
  const middleware = llmJudge({ client: fishJudge(), criteria: noFish, onEvent })
  const agent = new Agent({ client, middleware })

  const stream = agent.run('Lunch?', { session, stream: true })
  for await (const update of stream) seen.push(update)
  seen.push(await stream.finalResponse(), await stream.outcome(), session)
  const thrown: unknown = await agent.run('Lunch?', { onBlock: 'throw' }).catch((error) => error)
  seen.push(String(thrown), outcomeOf(thrown), (thrown as Error).cause)

  expect(JSON.stringify(seen)).not.toContain('Zebra')
})

test('shadow tells what it would do, and lets everything pass', async () => {
  const events: GuardrailEvent[] = []
  const onEvent = (event: GuardrailEvent) => events.push(event)
  const { agent } = setUp(['Fish.'], { mode: 'shadow', onEvent })

  const response = await agent.run('Lunch?')

  expect(response.text).toBe('Fish.')
  expect(events).toMatchObject([{ status: 'shadow', category: 'fish', severity: 1 }])
})

describe('when there is no verdict', () => {
  const down = new ProviderError('down', { kind: 'server', provider: 'scripted' })
  test.each([
    ['a malformed answer', scriptedClient(() => '{"safe": true}'), 2],
    ['a refusal', scriptedClient(() => ({ messages: { type: 'refusal', text: 'No.' } })), 1],
    ['a failing provider', scriptedClient(() => down), 1],
  ])('%s follows onError', async (_, client, calls) => {
    for (const onError of [undefined, 'closed', 'open'] as const) {
      const events: GuardrailEvent[] = []
      const onEvent = (event: GuardrailEvent) => events.push(event)
      const before = client.requests.length
      const { agent } = setUp(['Soup.'], { client, onError, onEvent })

      const response = await agent.run('Lunch?')

      expect(response.status).toBe(onError === 'open' ? 'completed' : 'blocked')
      expect(events.map(({ status }) => status)).toEqual(['error'])
      expect(client.requests.length - before).toBe(calls)
    }
  })

  test('a judge that hangs is given up, and its request ends', async () => {
    vi.useFakeTimers()
    const client = scriptedClient(() => ({ updates: [], hang: true }))
    const { agent } = setUp(['Soup.'], { client, timeoutMs: 3_000 })

    const running = agent.run('Lunch?')
    await vi.advanceTimersByTimeAsync(3_000)
    const response = await running
    vi.useRealTimers()

    expect(response.block?.category).toBe('guardrail_error')
    expect(client.openStreams).toBe(0)
  })

  test('an answer of another form is asked for once more', async () => {
    const good = fishJudge()
    let asked = 0
    const client = scriptedClient((request) => (asked++ === 0 ? 'Well …' : good.respond(request)))
    const { agent } = setUp(['Soup.'], { client })

    const response = await agent.run('Lunch?')

    expect(response.text).toBe('Soup.')
    const tickets = client.requests.map((request) => questionOf(request).ticket)
    expect(new Set(tickets).size).toBe(2)
  })

  test('an abort of the run is no failure of the judge', async () => {
    const controller = new AbortController()
    const client = scriptedClient(() => {
      controller.abort(new Error('enough'))
      return { updates: [], hang: true }
    })
    const { agent } = setUp(['Soup.'], { client, onError: 'open' })

    await expect(agent.run('Lunch?', { signal: controller.signal })).rejects.toThrow('enough')
  })
})

describe('how it comes to a verdict', () => {
  const criteria = [
    { id: 'polite', question: 'Is it polite?', weight: 3 },
    { id: 'short', question: 'Is it short?' },
  ]
  test.each([
    ['every', 0.7, { polite: 1, short: 0.6 }, 'short'],
    ['every', 0.6, { polite: 1, short: 0.6 }, undefined],
    ['weighted', 0.7, { polite: 1, short: 0 }, undefined],
    ['weighted', 0.8, { polite: 1, short: 0 }, 'short'],
  ] as const)('%s, threshold %d, %j: %s', async (combine, threshold, scores, category) => {
    const client = scriptedJudge(() => scores)
    const { agent } = setUp(['Soup.'], { client, criteria, combine, threshold })

    expect((await agent.run('Lunch?')).block?.category).toBe(category)
  })

  test('a rubric in words is one question', async () => {
    const client = scriptedJudge(() => ({ rubric: 0.1 }))
    const { agent } = setUp(['Soup.'], { client, criteria: 'It rhymes.' })

    expect((await agent.run('Lunch?')).block?.category).toBe('rubric')
    expect(client.requests[0]?.instructions).toContain('It rhymes.')
  })

  test.each([
    [[1, 1, 0], 'blocked'],
    [[1, 0, 0], 'completed'],
    [[1, 0], 'blocked'],
  ])('the majority of samples decides: %j', async (votes, status) => {
    const left = [...votes]
    const client = scriptedJudge(() => ({ fish: left.shift() ?? 0 }))
    const { agent } = setUp(['Soup.'], { client, samples: votes.length })

    expect((await agent.run('Lunch?')).status).toBe(status)
  })

  test('where samples disagree, the arbiter decides; otherwise it is not asked', async () => {
    const left = [1, 1, 0]
    const client = scriptedJudge(() => ({ fish: left.shift() ?? 0 }))
    const arbiter = scriptedJudge(() => ({ fish: 0 }))
    const { agent } = setUp(['Soup.', 'Stew.'], { client, arbiter, samples: 3 })

    const first = await agent.run('Lunch?')
    const asked = arbiter.requests.length
    await agent.run('Dinner?')

    expect(first.status).toBe('completed')
    expect([asked, arbiter.requests.length]).toEqual([1, 1])
  })

  test('of a long text every piece is judged, so that nothing hides behind the beginning', async () => {
    const { agent, judge } = setUp([`${'Soup. '.repeat(300)}fish ${'Soup. '.repeat(300)}`], {
      maxChars: 1000,
    })

    const response = await agent.run('Lunch?')

    expect(response.status).toBe('blocked')
    const texts = judge.requests.map((request) => questionOf(request).data.text)
    expect(Math.max(...texts.map(({ length }) => length))).toBe(1000)
  })

  test('it is asked at temperature 0 for an object, without tools, or as options say', async () => {
    const plain = setUp(['Soup.'])
    const own = setUp(['Soup.'], { model: 'mini', temperature: null, options: { seed: 7 } })
    await plain.agent.run('Lunch?')
    await own.agent.run('Lunch?')

    const [first, second] = [plain, own].map(({ judge }) => judge.requests[0]?.options)
    expect(first).toMatchObject({ temperature: 0, responseFormat: { name: 'verdict' } })
    expect(first?.tools).toBeUndefined()
    expect(second).toMatchObject({ model: 'mini', seed: 7 })
    expect(second?.temperature).toBeUndefined()
  })

  test('it sees as much of the conversation as it is to, and the instructions only when it may', async () => {
    const seen = async (setting: Setting) => {
      const judge = fishJudge()
      const middleware = llmJudge({ criteria: noFish, ...setting, client: judge })
      const client = scriptedClient(['One.', 'Two.'])
      const agent = new Agent({ client, instructions: 'Be brief.', middleware })
      await agent.run([message('user', 'A?'), message('assistant', 'B.'), message('user', 'C?')])
      return questionOf(judge.requests[0]!).data
    }

    expect(await seen({ contextTurns: 0 })).toEqual({ text: 'One.' })
    expect((await seen({})).conversation?.map(({ text }) => text)).toEqual(['C?'])
    const all = await seen({ contextTurns: 9, blind: false })
    expect(all.conversation?.map(({ text }) => text)).toEqual(['A?', 'B.', 'C?'])
    expect(all.agentInstructions).toBe('Be brief.')
  })

  test('with reasoning, a model that is asked again is told the reason', async () => {
    const client = scriptedJudge((text) => ({ fish: text === 'Fish.' ? 1 : 0 }), {
      reason: 'It names a fish.',
    })
    const setting = setUp(['Fish.', 'Soup.'], { client, reasoning: true, action: 'retry' })

    await setting.agent.run('Lunch?')

    const told = JSON.stringify(setting.client.requests[1]?.messages.at(-1))
    expect(told).toContain('No fish. It names a fish.')
  })
})

describe('what it costs', () => {
  test('the same text is judged once an hour, for each tenant', async () => {
    const clock = testClock()
    const { agent, judge } = setUp(['Soup.', 'Soup.', 'Soup.', 'Soup.'], { clock })

    await agent.run('Lunch?')
    await agent.run('Lunch?')
    const twice = judge.requests.length
    await agent.run('Lunch?', { tenant: 'other' })
    const other = judge.requests.length
    await clock.advance(3_600_001)
    await agent.run('Lunch?')

    expect([twice, other, judge.requests.length]).toEqual([1, 2, 3])
  })

  test('a verdict is kept without the text, and a failure not at all', async () => {
    const kept: unknown[] = []
    const inner = memoryStore()
    const store: KeyValueStore = {
      ...inner,
      get: (key) => inner.get(key),
      set: (...entry) => (kept.push(entry), inner.set(...entry)),
    }
    await setUp(['Zebra soup.'], { cacheVerdicts: { store } }).agent.run('Lunch?')
    const client = scriptedClient(() => 'no')
    await setUp(['Soup.'], { client, cacheVerdicts: { store } }).agent.run('Lunch?')

    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toMatch(/Zebra|Lunch/)
  })

  test('a store that fails costs a call and nothing else', async () => {
    const broken = () => Promise.reject(new Error('gone'))
    const store = { ...memoryStore(), get: broken, set: broken }
    const { agent } = setUp(['Soup.'], { cacheVerdicts: { store } })

    expect((await agent.run('Lunch?')).text).toBe('Soup.')
  })

  test.each([{ maxCalls: 2 }, { maxTokens: 200 }])('beyond %j, onError decides', async (budget) => {
    const long = 'Soup. '.repeat(500)
    const setting = { budget, maxChars: 1000 }
    const closed = setUp([long], setting)
    const open = setUp([long], { ...setting, onError: 'open' })

    expect((await closed.agent.run('Lunch?')).block?.category).toBe('guardrail_error')
    expect((await open.agent.run('Lunch?')).status).toBe('completed')
    expect(closed.judge.requests).toHaveLength(2)
  })

  test('a share of the calls can be judged, and the others are not told as passed', async () => {
    const events: GuardrailEvent[] = []
    const draws = [0.1, 0.9]
    const random = () => draws.shift() ?? 1
    const onEvent = (event: GuardrailEvent) => events.push(event)
    const { agent, judge } = setUp(['Fish.', 'Fish.'], { random, sampleRate: 0.5, onEvent })

    const statuses = [await agent.run('Lunch?'), await agent.run('Dinner?')].map((r) => r.status)

    expect(statuses).toEqual(['blocked', 'completed'])
    expect(judge.requests).toHaveLength(1)
    expect(events).toHaveLength(1)
  })

  test('its calls are internal: told, counted, and never in the stream of the caller', async () => {
    const events: RunEvent[] = []
    const { agent } = setUp(['Soup.'])
    const stream = agent.run('Lunch?', { stream: true })
    let shown = ''
    for await (const update of stream) {
      if (update.event) events.push(update.event)
      shown += JSON.stringify(update.contents)
    }

    const { usage } = await stream.finalResponse()

    expect(shown).not.toMatch(/ticket|scores/)
    expect(usage?.totalTokens).toBeGreaterThanOrEqual(100)
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'internal_call',
        data: expect.objectContaining({ middleware: 'judge', status: 'completed' }),
      }),
    )
  })
})

test('a thousand runs at once keep apart', async () => {
  const judge = fishJudge()
  const client = scriptedClient(({ messages }) => JSON.stringify(messages[0]?.contents))
  const agent = new Agent({ client, middleware: llmJudge({ client: judge, criteria: noFish }) })
  const inputs = Array.from({ length: 1000 }, (_, at) => `${at % 4 === 0 ? 'fish' : 'soup'} ${at}`)

  const statuses = await Promise.all(inputs.map(async (input) => (await agent.run(input)).status))

  expect(statuses).toEqual(inputs.map((input) => (input[0] === 'f' ? 'blocked' : 'completed')))
})

test.each([
  [{ client: undefined }, /`client` must be a chat client/],
  [{ criteria: [] }, /`criteria` must be a list of at least one/],
  [{ criteria: '' }, /`criteria`.*question/],
  [{ criteria: [{ id: '__proto__', question: 'x' }] }, /`criteria`.*"__proto__"/],
  [{ criteria: [...noFish, ...noFish] }, /`criteria`.*"fish"/],
  [{ criteria: [{ id: 'a', question: 'x', weight: 0 }] }, /`criteria`.*got 0/],
  [{ criteria: [{ id: 'a', question: 'x', failIf: 'maybe' }] }, /`criteria`.*"maybe"/],
  [{ threshold: 7 }, /`threshold`.*got 7/],
  [{ sampleRate: -1 }, /`sampleRate`.*got -1/],
  [{ samples: 0 }, /`samples`.*got 0/],
  [{ attempts: 0 }, /`attempts`/],
  [{ maxChars: 10 }, /`maxChars`/],
  [{ action: 'ask' }, /`action`.*"ask"/],
  [{ applyTo: ['file'] }, /`applyTo`.*"file"/],
  [{ action: 'retry', stream: { release: 'sentence' } }, /`stream.release`/],
  [{ budget: { maxCalls: 0 } }, /`budget.maxCalls`/],
  [{ cacheVerdicts: { ttlMs: 0 } }, /`cacheVerdicts.ttlMs`/],
])('wrong options throw at once: %j', (options, problem) => {
  const given = { client: fishJudge(), ...options } as unknown as LlmJudgeOptions

  expect(() => llmJudge(given)).toThrow(problem)
})

const runner = { describe, it }
const judging = (
  options: Pick<LlmJudgeOptions, 'timeoutMs' | 'cacheVerdicts'> = {},
): ReturnType<typeof llmJudge> =>
  llmJudge({
    ...options,
    client: fishJudge(),
    criteria: noFish,
    applyTo: ['input', 'output', 'arguments', 'result'],
  })
describeContract(
  guardrailContract({
    create: () => judging(),
    harmless: ['Soup is good.'],
    violations: [
      { stage: 'input', text: 'I like fish.', action: 'block' },
      { stage: 'output', text: 'I like fish.', action: 'block' },
      { stage: 'arguments', text: 'I like fish.', action: 'block' },
      { stage: 'result', text: 'I like fish.', action: 'block' },
    ],
  }),
  runner,
)
describeContract(
  middlewareContract({
    create: () => judging(),
    createWithLimit: (ms) => {
      const cacheVerdicts = { store: memoryStore(), ttlMs: ms, storeTimeoutMs: ms }
      return judging({ timeoutMs: ms, cacheVerdicts })
    },
    texts: ['A fish.'],
  }),
  runner,
)

describe.each(runModes)('a judging model that refuses a temperature, %s', (mode) => {
  const refusing = () =>
    scriptedClient((request) => {
      if (request.options.temperature !== undefined)
        throw new ProviderError('unsupported value', { kind: 'invalid_request', provider: 'p' })
      const { data, ticket } = questionOf(request)
      return JSON.stringify({ ticket, scores: { fish: data.text.includes('fish') ? 1 : 0 } })
    })

  it('is asked without one, and later at once', async () => {
    const client = refusing()
    const middleware = llmJudge({ client, criteria: noFish })
    const agent = new Agent({ client: scriptedClient(['Some soup.', 'Some salad.']), middleware })

    const statuses = [await runIn(mode, agent), await runIn(mode, agent)].map(
      ({ status }) => status,
    )

    expect(statuses).toEqual(['completed', 'completed'])
    expect(client.requests.map(({ options }) => options.temperature)).toEqual([
      0,
      undefined,
      undefined,
    ])
  })

  it('fails where the application chose the temperature, and the event says why', async () => {
    const reasons: unknown[] = []
    const middleware = llmJudge({
      client: refusing(),
      criteria: noFish,
      temperature: 0.2,
      onEvent: ({ reason }) => reasons.push(reason),
    })
    const agent = new Agent({ client: scriptedClient(['Some soup.']), middleware })

    const { block } = await runIn(mode, agent)

    expect(block?.category).toBe('guardrail_error')
    expect(reasons).toEqual(['ProviderError: unsupported value'])
  })
})
