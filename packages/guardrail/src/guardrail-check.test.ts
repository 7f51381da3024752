import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type {
  AgentMiddleware,
  AgentResponse,
  AgentResponseUpdate,
  ResponseStream,
} from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  GuardrailTripped,
  MiddlewareTermination,
  textOf,
  tool,
} from '@lamella/core'
import type { CheckContext } from './check-scope.ts'
import type { GuardrailEvent } from './guardrail-check.ts'
import type { GuardrailOptions } from './guardrail-options.ts'
import { guardrail } from './guardrail.ts'
import type { GuardrailSubject, Verdict } from './verdict.ts'
import type { Check } from './guardrail-check.test-helper.ts'
import { calm, broken, secrets, run, statuses } from './guardrail-check.test-helper.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a guardrail that fails', () => {
  const failures: [string, Check][] = [
    ['throws', broken],
    ['rejects', async () => broken({} as GuardrailSubject, {} as CheckContext)],
    ['gives no verdict', (() => undefined) as unknown as Check],
    ['resolves to no verdict', (async () => ({ action: 'maybe' })) as unknown as Check],
    ['points outside the text', () => ({ action: 'replace', spans: [{ start: 0, end: 99 }] })],
    ['points before the text', () => ({ action: 'replace', spans: [{ start: -1, end: 2 }] })],
    ['points between characters', () => ({ action: 'replace', spans: [{ start: 2, end: 2 }] })],
    ['points at nothing', () => ({ action: 'replace', spans: [{ start: Number.NaN, end: 2 }] })],
  ]

  test.each(failures)('blocks by default: one that %s', async (_, check) => {
    const { response, events, client } = await run({ check })

    expect(response.block).toMatchObject({ guardrail: 'g', category: 'guardrail_error' })
    expect(client.requests).toHaveLength(0)
    expect(statuses(events)).toEqual(['error'])
  })

  test.each(failures)(
    'lets the run continue if it fails open, and never says passed: one that %s',
    async (_, check) => {
      const told: GuardrailEvent[] = []

      const { response } = await run({
        check,
        onError: 'open',
        onEvent: (event) => void told.push(event),
      })

      expect(response.status).toBe('completed')
      expect(told.map(({ status }) => status)).toEqual(['error'])
      expect(told[0]?.error).toBeInstanceOf(Error)
    },
  )

  test.each(['output', 'arguments', 'result'] as const)(
    'on %s it blocks as well',
    async (stage) => {
      const client = scriptedClient([callFunction('now'), 'Done.'])
      const now = tool({ name: 'now', description: 'x', execute: () => 'noon' })
      const middleware = guardrail({ name: 'g', applyTo: [stage], check: broken })

      const response = await new Agent({ client, tools: [now], middleware }).run('Hello')

      expect(response.block).toMatchObject({ stage, category: 'guardrail_error' })
    },
  )

  describe('because `when` fails', () => {
    const when = (): Promise<boolean> => Promise.reject(new Error('no tenant'))

    test.each(['input', 'output'] as const)('blocks on %s', async (stage) => {
      const { response, events } = await run({ applyTo: [stage], when })

      expect(response.block?.category).toBe('guardrail_error')
      expect(events).toMatchObject([{ data: { stage, status: 'error' } }])
    })

    test('checks nothing if it fails open', async () => {
      const { response } = await run({ check: secrets, when, onError: 'open' }, 'my secret')

      expect(response.status).toBe('completed')
    })
  })

  test('or cannot read what it may let pass says so', async () => {
    const { response, events } = await run({
      check: () => ({ action: 'unsupported', severity: 0.5 }),
      unsupported: 'allow',
    })

    expect(response.status).toBe('completed')
    expect(events).toMatchObject([
      { data: { status: 'error', category: 'unsupported', severity: 0.5 } },
    ])
  })

  test('takes no longer than its time, and its signal tells the check', async () => {
    vi.useFakeTimers()
    let signal: AbortSignal | undefined
    const check: Check = (_, context) => {
      signal = context.signal
      return new Promise(() => {})
    }

    const running = run({ check, timeoutMs: 100 })
    await vi.advanceTimersByTimeAsync(99)
    const before = signal?.aborted
    await vi.advanceTimersByTimeAsync(1)
    const { response } = await running

    expect(before).toBe(false)
    expect(signal?.aborted).toBe(true)
    expect(response.block?.category).toBe('guardrail_error')
  })

  test('takes its time by the clock of the run', async () => {
    const clock = testClock()
    const middleware = guardrail({
      name: 'g',
      applyTo: ['input'],
      check: () => new Promise(() => {}),
      timeoutMs: 100,
    })

    const running = new Agent({ client: scriptedClient(['Hi.']), middleware, clock }).run('Hello')
    await clock.advance(100)

    expect((await running).block?.category).toBe('guardrail_error')
  })

  test('leaves no timer behind', async () => {
    vi.useFakeTimers()

    await run({ applyTo: ['input', 'instructions', 'output'] })

    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('what steers a run is not a failure of the guardrail', () => {
  test('a termination from a check ends the run, also where it fails open', async () => {
    const check: Check = () => {
      throw new MiddlewareTermination('enough', { result: 'Bye.' })
    }

    const { response } = await run({ check, onError: 'open' })

    expect(response).toMatchObject({ status: 'terminated', text: 'Bye.' })
  })

  test('a check may pause the run', async () => {
    const client = scriptedClient(['The answer.'])
    const check: Check = async (_, context) =>
      (await context.run.interrupt('allow this?')) === 'yes'
        ? { action: 'allow' }
        : { action: 'block' }
    const middleware = guardrail({ name: 'g', applyTo: ['input'], check, onError: 'open' })
    const agent = new Agent({ client, middleware })

    const paused = await agent.run('Hello')
    const resumed = await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: 'yes' })

    expect(paused.status).toBe('paused')
    expect(resumed.text).toBe('The answer.')
  })

  test('an abort ends a check that waits, also where it fails open', async () => {
    const controller = new AbortController()
    const told: GuardrailEvent[] = []
    const check: Check = () => new Promise(() => controller.abort(new Error('gone')))
    const middleware = guardrail({
      name: 'g',
      applyTo: ['input'],
      check,
      onError: 'open',
      onEvent: (event) => void told.push(event),
    })
    const agent = new Agent({ client: scriptedClient(['x']), middleware })

    await expect(agent.run('Hello', { signal: controller.signal })).rejects.toThrow('gone')
    expect(told).toEqual([])
  })
})

describe('a guardrail', () => {
  test('in shadow reports what it would do, on input, output and calls, and does nothing', async () => {
    const told: GuardrailEvent[] = []
    const client = scriptedClient([callFunction('now', {}), 'a secret'])
    const now = tool({ name: 'now', description: 'x', execute: () => 'a secret' })
    const middleware = guardrail({
      name: 'g',
      applyTo: ['input', 'output', 'result'],
      mode: 'shadow',
      check: secrets,
      onEvent: (event) => void told.push(event),
    })
    const stream = new Agent({ client, tools: [now], middleware }).run('my secret', {
      stream: true,
    })
    let toldAtFirst: readonly string[] | undefined
    for await (const { contents } of stream) {
      if (textOf(contents) !== '') toldAtFirst ??= told.map(({ stage }) => stage)
    }

    const response = await stream.finalResponse()
    const shadows = told.filter(({ status }) => status === 'shadow')

    expect(response.text).toBe('a secret')
    expect(shadows.map(({ stage }) => stage)).toEqual(['input', 'result', 'output'])
    expect(toldAtFirst).not.toContain('output')
  })

  test('in shadow does not ask the model again', async () => {
    const told: GuardrailEvent[] = []
    const client = scriptedClient(['a secret', 'another'])
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      mode: 'shadow',
      check: () => ({ action: 'retry' }),
      onEvent: (event) => void told.push(event),
    })

    const response = await new Agent({ client, middleware }).run('Hello')

    expect(response.text).toBe('a secret')
    expect(told.map(({ status }) => status)).toEqual(['shadow'])
  })

  test('that is off has no middlewares', () => {
    expect(guardrail({ name: 'g', applyTo: ['input'], mode: 'off', check: calm })).toEqual([])
  })

  test('has a middleware only where it has something to check', () => {
    const levels = (...applyTo: GuardrailOptions['applyTo'][number][]): string[] =>
      guardrail({ name: 'g', applyTo, check: calm }).map(({ level }) => level)

    expect(levels('output')).toEqual(['chat'])
    expect(levels('result')).toEqual(['function'])
    expect(levels('input')).toEqual(['agent', 'function'])
  })

  test('has its middleware at the level that is asked for', () => {
    const levels = (level: 'agent' | 'chat'): string[] =>
      guardrail({ name: 'g', applyTo: ['output', 'instructions'], level, check: calm }).map(
        (middleware) => middleware.level,
      )

    expect(levels('agent')).toEqual(['agent'])
    expect(levels('chat')).toEqual(['chat'])
  })

  test.each(['raw', 'decoded'] as const)('is shown text as %s', async (readAs) => {
    const shown: string[] = []
    const json = '{"a":1}'

    await run(
      {
        applyTo: ['input', 'output'],
        readAs,
        check: ({ text }) => {
          shown.push(text)
          return { action: 'allow' }
        },
      },
      json,
      ['a\\tb'],
    )

    const expected = { raw: [json, 'a\\tb'], decoded: ['a: 1\n', 'a\\tb', 'a\tb'] }
    expect(shown).toEqual(expected[readAs])
  })

  test('tells the user the message of its verdict', async () => {
    const { response } = await run({
      check: () => ({ action: 'block', message: 'Not that.' }),
      blockMessage: 'No.',
    })

    expect(response.text).toBe('Not that.')
  })

  test('that answers at once is asked for every update', async () => {
    const shown: string[] = []
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      stream: { holdChars: 0 },
      check: ({ text }) => {
        shown.push(text)
        return { action: 'allow' }
      },
    })
    const client = scriptedClient(['one two three'], { chunk: 4 })

    await new Agent({ client, middleware }).run('Hello', { stream: true }).finalResponse()

    expect(shown).toEqual(['one ', 'two ', 'thre', 'e'])
  })

  test.each<[string, GuardrailOptions['stream']]>([
    ['how much to hold', { holdChars: 2 }],
    ['what is pending', { pending: (text) => text.length }],
  ])('that is told %s lets the rest of a stream leave before the end', async (_, stream) => {
    const log: string[] = []
    const check: Check = () => {
      log.push('check')
      return { action: 'allow' }
    }
    const middleware = guardrail({ name: 'g', applyTo: ['output'], check, stream })
    const client = scriptedClient(['one two three'], { chunk: 4 })

    const updates = new Agent({ client, middleware }).run('Hello', { stream: true })
    for await (const { contents } of updates) if (contents.length > 0) log.push('read')

    expect(log).toContain('read')
    expect(log.indexOf('read')).toBeLessThan(log.lastIndexOf('check'))
  })

  test('that flags a text as a whole does not hold it back', async () => {
    const log: string[] = []
    const check: Check = () => {
      log.push('check')
      return { action: 'flag' }
    }
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      check,
      stream: { holdChars: 2 },
    })
    const client = scriptedClient(['one two three'], { chunk: 4 })

    const updates = new Agent({ client, middleware }).run('Hello', { stream: true })
    for await (const { contents } of updates) if (contents.length > 0) log.push('read')

    expect(log.indexOf('read')).toBeLessThan(log.lastIndexOf('check'))
  })

  test('reports that output has passed', async () => {
    const told: string[] = []

    await run({ applyTo: ['output'], onEvent: ({ status }) => void told.push(status) })

    expect(told).toEqual(['passed'])
  })

  test('works only for calls that `when` wants', async () => {
    const { response } = await run(
      { check: secrets, when: ({ run: of }) => of.depth > 0 },
      'my secret',
    )

    expect(response.status).toBe('completed')
  })

  test('on a client rejects with what tripped', async () => {
    const middleware = guardrail({
      name: 'g',
      level: 'chat',
      applyTo: ['input', 'output'],
      check: secrets,
    })
    const client = scriptedClient(['a secret'], { middleware })

    const error = await client.getResponse('Hello').catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(GuardrailTripped)
    expect((error as GuardrailTripped).block).toMatchObject({
      level: 'chat',
      stage: 'output',
      category: 'secrets',
      message: '',
    })
  })

  test('holds no data of a run: two at once do not meet', async () => {
    const middleware = guardrail({
      name: 'g',
      applyTo: ['output'],
      check: secrets,
      stream: { holdChars: 6 },
    })
    const agent = new Agent({ client: scriptedClient(() => 'sec', { chunk: 1 }), middleware })

    const both = await Promise.all([
      agent.run('one', { stream: true }).finalResponse(),
      agent.run('two', { stream: true }).finalResponse(),
    ])

    expect(both.map(({ text }) => text)).toEqual(['sec', 'sec'])
  })

  test.each<[Partial<GuardrailOptions>, string]>([
    [{ name: '' }, '`name`'],
    [{ check: 'no' as never }, '`check`'],
    [{ applyTo: [] }, '`applyTo`'],
    [{ applyTo: ['inputs' as 'input'] }, '`applyTo` must be one of input, output'],
    [{ level: 'function' as 'chat' }, '`level` must be one of agent, chat, got "function"'],
    [{ timeoutMs: 0 }, '`timeoutMs` must be more than 0 milliseconds, got 0'],
    [{ maxRetries: 1.5 }, '`maxRetries`'],
    [{ stream: { release: 'none' as 'full' } }, '`stream.release`'],
    [{ stream: { holdChars: -1 } }, '`stream.holdChars` must be a whole number from 0 up, got -1'],
  ])('refuses wrong options: %o', (wrong, expected) => {
    expect(() => guardrail({ name: 'g', applyTo: ['input'], check: calm, ...wrong })).toThrow(
      expected,
    )
  })
})

describe.each([
  ['plain', false],
  ['streamed', true],
])('beside the model, %s', (_, stream) => {
  interface Beside {
    readonly ended: Promise<AgentResponse>
    readonly seen: string[]
    readonly done: string[]
    readonly decide: (verdict: Verdict) => void
  }

  async function begin(...outside: readonly AgentMiddleware[]): Promise<Beside> {
    const seen: string[] = []
    const done: string[] = []
    let decide: Beside['decide'] = () => {}
    const verdict = new Promise<Verdict>((resolve) => (decide = resolve))
    const beside = guardrail({
      name: 'g',
      applyTo: ['input'],
      execution: 'parallel',
      check: () => verdict,
    })
    const middleware = [...outside, ...beside]
    const note = tool({ name: 'note', description: 'x', execute: () => void done.push('tool') })
    const client = scriptedClient([
      () => {
        done.push('asked')
        return ['I will note it. ', callFunction('note')]
      },
      'Noted.',
    ])
    const agent = new Agent({ client, tools: [note], middleware })
    const ended = stream ? read(agent.run('Hello', { stream: true }), seen) : agent.run('Hello')
    await new Promise((resolve) => setTimeout(resolve, 0))
    return { ended, seen, done, decide }
  }

  async function read(
    running: ResponseStream<AgentResponseUpdate, AgentResponse>,
    seen: string[],
  ): Promise<AgentResponse> {
    for await (const { contents } of running)
      if (textOf(contents) !== '') seen.push(textOf(contents))
    return running.finalResponse()
  }

  test('the model is asked at once, but nothing leaves and no tool runs before the verdict', async () => {
    const { ended, seen, done, decide } = await begin()
    const before = [...done, ...seen]

    decide({ action: 'allow' })
    const response = await ended

    expect(before).toEqual(['asked'])
    expect(done).toEqual(['asked', 'tool'])
    expect(response.text).toBe('I will note it. Noted.')
    expect(seen.join('')).toBe(stream ? response.text : '')
  })

  test('a verdict counts also if nothing of the answer is wanted any more', async () => {
    const ending = agentMiddleware('ending', async (context, callNext) => {
      context.transformUpdates({ start: (controller) => controller.terminate() })
      await callNext()
    })
    const { ended, decide } = await begin(ending)

    decide({ action: 'block' })

    expect((await ended).status).toBe('blocked')
  })

  test.each(['block', 'replace'] as const)(
    'a verdict of %s blocks: no tool has run and nothing was seen',
    async (action) => {
      const { ended, seen, done, decide } = await begin()

      decide({ action })
      const response = await ended

      expect(response.status).toBe('blocked')
      expect(done).toEqual(['asked'])
      expect(seen.join('')).toBe(stream ? response.text : '')
    },
  )
})
