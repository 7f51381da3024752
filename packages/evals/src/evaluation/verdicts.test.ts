import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import {
  assertPassed,
  compareClients,
  evaluate,
  evaluationMatchers,
  includes,
  junitOf,
  score,
  similarity,
  summaryOf,
  tableOf,
} from '../index.ts'

const hostile = 'a <b onload="x"> | `c` \u001B[31m & \u0000'
const evaluated = (answer: string) =>
  evaluate({
    name: 'odd <name>',
    agent: new Agent({ client: scriptedClient(() => answer) }),
    cases: [{ id: hostile, input: 'Hi', expected: 'yes' }],
    checks: [includes(`yes ${hostile}`)],
    scores: [similarity({ threshold: 0.9 }), score('none', () => undefined)],
  })

describe('a matcher', () => {
  it('passes for an evaluation that passed', async () => {
    const evaluation = await evaluated(`yes ${hostile}`)

    expect(() => assertPassed({ ...evaluation, verdict: 'undecided' })).not.toThrow()
    expect(evaluationMatchers.toHavePassed({ ...evaluation, verdict: 'passed' }).pass).toBe(true)
  })

  it('fails with the table of the evaluation', async () => {
    const evaluation = await evaluated('no')
    const { pass, message } = evaluationMatchers.toHavePassed(evaluation)

    expect(() => assertPassed(evaluation)).toThrow('odd <name>: failed\n  1 run, 1 case')
    expect([pass, message()]).toEqual([false, tableOf(evaluation)])
  })
})

describe('text of strangers', () => {
  it('does not control a terminal', async () => {
    expect(tableOf(await evaluated('no'))).not.toMatch(/[^\P{Cc}\n]/u)
  })

  it('is no markup in JUnit XML, and has only characters of XML', async () => {
    const xml = junitOf([await evaluated('no')])

    expect(xml).toContain('name="a &lt;b onload=&quot;x&quot;&gt; | `c` [31m &amp; "')
    expect(xml).not.toMatch(/[^\P{Cc}\n]/u)
  })

  it('is no markup in Markdown', async () => {
    expect(summaryOf([await evaluated('no')])).toContain(
      '| a &#60;b onload="x"&#62; &#124; &#96;c&#96; &#91;31m &#38; |',
    )
  })
})

it('clients are compared on the same cases, with the first one as the baseline', async () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 }
  const client = (answer: string, model: string) =>
    scriptedClient(() => ({ messages: answer, usage }), { model })
  const { evaluations, ...comparison } = await compareClients({
    clients: { large: client('yes', 'm-large'), small: client('no', 'm-small') },
    agent: new Agent({ client: scriptedClient([]) }),
    cases: Array.from({ length: 12 }, (_, at) => ({ id: `${at}`, input: 'Hi', expected: 'yes' })),
    scores: [similarity()],
    prices: { 'm-large': { input: 2, output: 0 }, 'm-small': { input: 0.1, output: 0 } },
    now: () => 0,
  })

  expect(evaluations['small']?.scores[0]?.baseline).toMatchObject({ difference: -1, cases: 12 })
  expect(comparison.toString().split('\n')).toEqual([
    'client  verdict  failed   similarity              US dollars  median ms',
    'large   passed   0 of 12  1.000 (1.000 to 1.000)  24.0        0',
    'small   worse    0 of 12  0.000 (0.000 to 0.000)  1.20        0',
  ])
})
