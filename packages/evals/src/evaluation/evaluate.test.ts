import { Agent, jsonSchema, tool } from '@lamella/core'
import { judgeScore } from '@lamella/guardrail-judge'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { EvaluateOptions, RunRecord } from '../index.ts'
import {
  argumentsMatch,
  calledInOrder,
  calledTool,
  check,
  costAtMost,
  evaluate,
  includes,
  judged,
  latencyAtMost,
  matches,
  noToolErrors,
  notCalledTool,
  rate,
  score,
  similarity,
  statusIs,
} from '../index.ts'

const look = tool({
  name: 'look',
  description: 'Looks up an order.',
  parameters: jsonSchema({
    type: 'object',
    properties: { id: { type: 'number' } },
    required: ['id'],
  }),
  execute: ({ id }) => {
    if (id === 404) throw new Error('no such order')
    return `order ${String(id)} was sent`
  },
})
const send = tool({ name: 'send', description: 'Sends a mail.', execute: () => 'sent' })

/** An agent that looks up the number in the question and answers with it. */
function orders(): Agent {
  const client = scriptedClient(
    ({ messages }) => {
      const last = messages.at(-1)!
      if (last.role === 'tool') return 'Your order was sent.'
      const [number] = /\d+/.exec(JSON.stringify(last.contents)) ?? []
      return number === undefined
        ? 'Which order?'
        : [callFunction('look', { id: Number(number), verbose: true })]
    },
    { model: 'm-1' },
  )
  return new Agent({ client, tools: [look, send] })
}

const known = [{ id: 'known', input: 'Where is order 7?', expected: 'sent' }]
const evaluateChecks = (...checks: EvaluateOptions['checks'] & object) =>
  evaluate({ agent: orders(), cases: known, checks })

describe('checks', () => {
  it.each([
    calledTool('look'),
    calledTool('look', { times: 1 }),
    notCalledTool('send'),
    argumentsMatch('look', { id: 7 }),
    argumentsMatch('look', ({ id }) => id === 7),
    calledInOrder(['look']),
    noToolErrors(),
    includes(({ expected }) => expected),
    matches(/SENT/i),
    statusIs('completed'),
    latencyAtMost(60_000),
    check('own', ({ text }) => text.endsWith('.')),
  ])('$name passes', async (passing) => {
    const { verdict, checks } = await evaluateChecks(passing)

    expect([verdict, checks]).toEqual(['passed', [{ name: passing.name, runs: 1, failed: 0 }]])
  })

  it.each([
    [calledTool('send'), 'send was called 0 times, called were look'],
    [calledTool('look', { times: 2 }), 'look was called once, called were look'],
    [notCalledTool(), 'called were look'],
    [argumentsMatch('look', { id: 8 }), 'look was called with {"id":7,"verbose":true}'],
    [argumentsMatch('send', {}), 'send was not called'],
    [calledInOrder(['look', 'send']), 'send is missing, called were look'],
    [includes('refund'), '"refund" is not in the answer'],
    [includes(() => 5), 'includes needs a text for case "known"'],
    [matches(/^\d+$/), 'it does not match'],
    [matches(jsonSchema({ type: 'object' })), 'the answer is no JSON'],
    [statusIs('blocked'), 'it is completed'],
    [costAtMost(1), 'the cost is unknown: `evaluate` has no `prices`'],
    [latencyAtMost(0), 'it took 1 ms'],
    [check('own', () => false), 'it does not pass'],
    [
      check('own', () => {
        throw new Error('odd')
      }),
      'odd',
    ],
  ])('%o fails and says why', async (failing, reason) => {
    let now = 0
    const options = { agent: orders(), cases: known, checks: [failing], now: () => now++ }
    const { verdict, cases } = await evaluate(options)

    expect(verdict).toBe('failed')
    expect(cases[0]?.failures).toEqual([`${failing.name}: ${reason}`])
  })

  it('that read something from the case apply to cases that have it', async () => {
    const cases = [...known, { id: 'vague', input: 'Where is it?' }]
    const { checks } = await evaluate({
      agent: orders(),
      cases,
      checks: [includes(({ expected }) => expected)],
    })

    expect(checks[0]?.runs).toBe(1)
  })

  it('see failed tool calls and costs', async () => {
    const { cases, costUsd } = await evaluate({
      agent: orders(),
      cases: [{ id: 'missing', input: 'Where is order 404?' }],
      checks: [noToolErrors(), costAtMost(0.00001)],
      prices: { 'm-1': { input: 1, output: 2 } },
    })

    expect(cases[0]?.failures[0]).toBe('noToolErrors: look failed: tool_failed')
    // Two calls, of 10 tokens of input and 5 of output each.
    expect(costUsd).toBeCloseTo(0.00004)
    expect(cases[0]?.failures[1]).toMatch(/^costAtMost 0.00001: it cost 0.00004/)
  })
})

describe('an evaluation', () => {
  it('continues with turns of the user in one session', async () => {
    const seen: number[] = []
    const client = scriptedClient(({ messages }) => {
      seen.push(messages.length)
      return 'Yes.'
    })
    const { verdict } = await evaluate({
      agent: new Agent({ client }),
      cases: [{ id: 'long', input: 'One?', turns: ['Two?', 'Three?'] }],
      checks: [check('turns', ({ responses }) => responses.length === 3)],
    })

    expect([verdict, seen]).toEqual(['passed', [1, 3, 5]])
  })

  it('fails for a run that throws, and runs the others', async () => {
    const client = scriptedClient(({ messages }) => {
      if (JSON.stringify(messages).includes('rotten')) throw new Error('broken')
      return 'Fine.'
    })
    const cases = ['rotten', 'good'].map((id) => ({ id, input: id }))
    const {
      verdict,
      reasons,
      cases: summaries,
    } = await evaluate({ agent: new Agent({ client }), cases })

    expect([verdict, reasons]).toEqual(['failed', ['1 of 2 runs threw.']])
    expect(summaries.map(({ failures }) => failures)).toEqual([['broken'], []])
  })

  it('ends when its budget is spent, and says that this decides nothing', async () => {
    const cases = Array.from({ length: 9 }, (_, at) => ({ id: `${at}`, input: 'Hi' }))
    const client = scriptedClient(() => 'Hello.')
    const { verdict, runs, ended } = await evaluate({
      agent: new Agent({ client }),
      cases,
      budget: { modelCalls: 4 },
      concurrency: 2,
    })

    expect([verdict, runs, ended, client.requests.length]).toEqual(['undecided', 4, 'budget', 4])
  })

  it('continues after a crash with what is left', async () => {
    const cases = Array.from({ length: 4 }, (_, at) => ({ id: `${at}`, input: 'Hi' }))
    const written: RunRecord[] = []
    const crash = evaluate({
      agent: new Agent({ client: scriptedClient(() => 'Hello.') }),
      cases,
      concurrency: 1,
      onRun: (record) => {
        if (written.length === 2) throw new Error('the disk is full')
        written.push(record)
      },
    })
    await expect(crash).rejects.toThrow('the disk is full')
    const client = scriptedClient(() => 'Hello.')

    const changed = cases.map((each) => (each.id === '0' ? { ...each, input: 'Ho' } : each))
    const { runs } = await evaluate({ agent: new Agent({ client }), cases: changed, done: written })

    expect([runs, client.requests.length]).toEqual([4, 3])
  })

  it('runs tools of a case from its recording', async () => {
    const { replayedTools } = await import('../index.ts')
    const client = scriptedClient(({ messages }) => {
      const last = messages.at(-1)!
      if (last.role !== 'tool') return [callFunction('look', { id: 7 }), callFunction('send', {})]
      return last.contents.map((content) => JSON.stringify(content)).join()
    })
    const toolResults = [
      { name: 'look', arguments: { id: 8 }, result: 'of another call' },
      { name: 'look', arguments: { id: 7 }, result: 'recorded' },
      { name: 'send', error: 'no mail today' },
    ]
    const { cases } = await evaluate({
      agent: new Agent({ client, tools: [look, send] }),
      cases: [{ id: 'replayed', input: 'Go', toolResults }],
      tools: replayedTools(),
      checks: [includes('recorded'), noToolErrors()],
    })

    expect(cases[0]?.failures).toEqual(['noToolErrors: send failed: tool_failed'])
  })

  it.each([
    [{ runs: 0 }, 'evaluate: `runs` must be a whole number from 1 up, got 0'],
    [{ confidence: 1 }, 'evaluate: `confidence` must be a number between 0.5 and 1, got 1'],
    [{ cases: 'x' }, 'evaluate: `cases`'],
    [{ cases: [] }, 'evaluation: `cases` has no case'],
    [{ cases: [...known, ...known] }, 'evaluate: `cases` has the id "known" twice'],
    [{ cases: [{ id: 'x' }] }, 'evaluate: case 1: `input` of a case'],
    [{ checks: [includes('a'), includes('a')] }, '"includes a" twice'],
    [{ scores: [score('far', () => 2)] }, 'score "far" must be a number from 0 to 1, got 2'],
    [{ colour: 1 }, 'evaluate: unknown option `colour`'],
  ])('rejects %o', async (wrong, message) => {
    const options = { agent: orders(), cases: known, ...(wrong as object) }

    await expect(evaluate(options)).rejects.toThrow(message)
  })
})

describe('a score', () => {
  /** Cases whose answers are right with a probability. */
  const noisy = (right: number) => {
    const cases = Array.from({ length: 30 }, (_, at) => ({
      id: `${at}`,
      input: 'Hi',
      expected: 'yes',
    }))
    let at = 0
    const agent = () =>
      new Agent({ client: scriptedClient([(at++ * 7) % 30 < right ? 'yes' : 'no']) })
    return { agent, cases, runs: 2, concurrency: 1, scores: [similarity()] }
  }
  const recorded = async (options: EvaluateOptions): Promise<RunRecord[]> => {
    const records: RunRecord[] = []
    await evaluate({ ...options, onRun: (record) => void records.push(record) })
    return records
  }

  it('that fell more than noise explains is worse', async () => {
    const baseline = await recorded(noisy(27))
    const { verdict, scores } = await evaluate({ ...noisy(15), baseline })

    expect(verdict).toBe('worse')
    expect(scores[0]?.baseline).toMatchObject({ mean: 0.9, cases: 30, change: 'worse' })
  })

  it('that fell as noise does is undecided, and one that did not has passed', async () => {
    const baseline = await recorded(noisy(27))

    expect((await evaluate({ ...noisy(24), baseline })).verdict).toBe('undecided')
    expect((await evaluate({ ...noisy(27), baseline })).verdict).toBe('passed')
    expect((await evaluate({ ...noisy(30), baseline })).verdict).toBe('passed')
  })

  it('below its threshold fails if its whole interval is, and otherwise is undecided', async () => {
    const verdictAt = async (threshold: number) => {
      const scores = [similarity({ threshold })]
      return (await evaluate({ ...noisy(21), scores })).verdict
    }

    expect([await verdictAt(0.7), await verdictAt(0.75), await verdictAt(0.95)]).toEqual([
      'passed',
      'undecided',
      'failed',
    ])
  })

  it('compares only cases that have not changed', async () => {
    const baseline = await recorded(noisy(27))
    const options = noisy(15)
    const cases = options.cases.map((each) => ({ ...each, input: 'Ho' }))
    const { verdict, reasons } = await evaluate({ ...options, cases, baseline })

    expect([verdict, reasons]).toEqual([
      'undecided',
      ['The baseline has none of these cases with these scores.'],
    ])
  })

  it('of a judge is its answer to the conversation', async () => {
    const client = scriptedClient(({ instructions = '', messages }) => {
      const ticket = /"ticket":"([^"]+)"/.exec(instructions)?.[1]
      const isAnswered = JSON.stringify(messages).includes('User: Where is order 7?')
      return JSON.stringify({ ticket, scores: { answer: isAnswered ? 0.8 : 0 } })
    })
    const judge = judgeScore({ client, question: 'Does the assistant answer the question?' })
    const scores = [judged('helpful', judge)]
    const evaluation = await evaluate({ agent: orders(), cases: known, scores })

    expect(evaluation.scores[0]?.mean).toBeCloseTo(0.8)
  })

  it('of a check is the share of runs that pass it', async () => {
    const { scores } = await evaluate({ ...noisy(21), scores: [rate(includes('yes'))] })

    expect(scores[0]).toMatchObject({ name: 'includes yes', mean: 0.7, runs: 60 })
  })
})
