import type { ChatMiddleware } from '@lamella/core'
import { Agent, chatMiddleware, jsonSchema, message, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, scriptedClient, testRandom } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { EvaluateOptions, Evaluation, EvaluationCase, RunRecord } from '../index.ts'
import { calledTool, evaluate, includes, rate } from '../index.ts'

const isLong = process.env['LAMELLA_TESTS'] === 'long'

const changes = ['prompt', 'tool description', 'guardrail threshold', 'middleware order'] as const
type Change = (typeof changes)[number]

/** A sample agent: what it is about, and how well its model does if nothing is in its way. */
interface Sample {
  readonly topic: string
  /** Chance of a right answer. */
  readonly quality: number
  readonly cases: number
  readonly runs: number
}

const samples: readonly Sample[] = [
  { topic: 'orders', quality: 0.95, cases: 30, runs: 2 },
  { topic: 'flights', quality: 1, cases: 30, runs: 1 },
  { topic: 'invoices', quality: 0.9, cases: 30, runs: 3 },
  { topic: 'recipes', quality: 0.97, cases: 20, runs: 3 },
  { topic: 'tickets', quality: 0.85, cases: 30, runs: 4 },
  { topic: 'contracts', quality: 0.98, cases: 30, runs: 2 },
  { topic: 'parcels', quality: 0.92, cases: 25, runs: 3 },
  { topic: 'rooms', quality: 0.99, cases: 24, runs: 2 },
  { topic: 'visits', quality: 0.8, cases: 30, runs: 5 },
  { topic: 'books', quality: 0.94, cases: 28, runs: 2 },
]
const used = isLong ? samples : samples.slice(0, 3)

const rule = 'Say only what the tool has told you.'
const fact = 'Numbers below 5 are archived.'

/** The agent of a sample, with one change for the worse or none. Its model is a program that errs at random. */
function agentOf(sample: Sample, random: () => number, change?: Change): Agent {
  const { topic, quality } = sample
  const look = tool({
    name: 'look',
    description: change === 'tool description' ? 'A tool.' : `Looks ${topic} up by their number.`,
    parameters: jsonSchema({ type: 'object', properties: { number: { type: 'string' } } }),
    execute: ({ number }) => `${topic} ${String(number)}: ready`,
  })
  const limit = change === 'guardrail threshold' ? 0.4 : 0.8
  const heat = guardrail({
    name: 'heat',
    applyTo: ['input'],
    check: ({ text }) => ({ action: heatOf(text) >= limit ? 'block' : 'allow' }),
  })
  const facts = chatMiddleware('facts', async (context, callNext) => {
    context.messages = [message('user', fact), ...context.messages]
    await callNext()
  })
  const order = change === 'middleware order' ? [facts, latest] : [latest, facts]
  const client = scriptedClient(({ messages, instructions, options }) => {
    const text = JSON.stringify(messages)
    const number = /number (\d+)/.exec(text)?.[1] ?? ''
    const isClear = JSON.stringify(options.tools).includes(`Looks ${topic} up`)
    const isAsked = messages.at(-1)!.role !== 'tool'
    if (isAsked && random() < (isClear ? 0.98 : 0.3)) return callFunction('look', { number })
    const isCareful = instructions?.includes(rule) === true && text.includes(fact)
    const isRight = !isAsked && random() < (isCareful ? quality : quality * 0.4)
    return isRight ? `It is ready: ${number}.` : 'I think it is on its way.'
  })
  return new Agent({
    client,
    tools: [look],
    instructions: `You answer about ${topic}.${change === 'prompt' ? '' : ` ${rule}`}`,
    middleware: [heat, ...order],
  })
}

/** Keeps the last three messages. */
const latest: ChatMiddleware = chatMiddleware('latest', async (context, callNext) => {
  context.messages = context.messages.slice(-3)
  await callNext()
})

/** Users who are loud, and mean no harm. */
function heatOf(text: string): number {
  return text.includes('!') ? 0.6 : 0.1
}

function casesOf({ topic, cases }: Sample): readonly EvaluationCase[] {
  return Array.from({ length: cases }, (_, at) => ({
    id: `${topic}-${at}`,
    input: `Where is number ${at}${at % 2 === 0 ? '!' : '?'}`,
    expected: `ready: ${at}`,
  }))
}

const expected = includes(({ expected: text }) => String(text))

async function evaluated(
  sample: Sample,
  seed: number,
  more: Partial<EvaluateOptions> & { readonly change?: Change } = {},
): Promise<Evaluation> {
  const { change, ...options } = more
  const agent = agentOf(sample, testRandom(seed), change)
  const scores = [rate(expected), rate(calledTool('look'))]
  const { runs } = sample
  return evaluate({ agent, cases: casesOf(sample), scores, runs, recordings: 'none', ...options })
}

async function baselineOf(sample: Sample, seed: number): Promise<readonly RunRecord[]> {
  const baseline: RunRecord[] = []
  await evaluated(sample, seed, { onRun: (record) => void baseline.push(record) })
  return baseline
}

describe.each(used)('an agent for $topic with $cases cases', (sample) => {
  it.each(changes)('that got worse by its %s is found', async (change) => {
    const baseline = await baselineOf(sample, 1)

    const { verdict, reasons } = await evaluated(sample, 2, { baseline, change })

    expect([verdict, reasons.join(' ')]).toEqual(['worse', expect.stringContaining('fell by')])
  })
})

it(`of ${isLong ? 200 : 20} evaluations of agents that have not changed, at most 2 % report that they got worse`, async () => {
  const repetitions = isLong ? 200 : 20
  let worse = 0
  for (let at = 0; at < repetitions; at++) {
    const sample = used[at % used.length]!
    const baseline = await baselineOf(sample, 1_000 + at)
    const { verdict } = await evaluated(sample, 5_000 + at, { baseline, seed: at })
    if (verdict === 'worse' || verdict === 'failed') worse++
  }

  expect(worse).toBeLessThanOrEqual(repetitions * 0.02)
}, 300_000)
