import { readFileSync } from 'node:fs'
import { Agent, tool } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { CalibrationCase, JudgeCriterion } from './index.ts'
import { calibrateJudge, competitors, grounded, language, llmJudge, onTopic } from './index.ts'
import { questionOf } from './scripted-judge.test-helper.ts'

const presets: readonly [string, JudgeCriterion, string][] = [
  ['on-topic', onTopic({ topics: ['orders'], except: ['legal advice'] }), 'off_topic'],
  ['grounded', grounded(), 'ungrounded'],
  ['language', language('English', 'de'), 'language'],
  ['competitors', competitors('Fabrikam', 'Contoso Outdoor'), 'competitors'],
]

function casesOf(file: string): readonly CalibrationCase[] {
  const text = readFileSync(new URL(`../calibration/${file}.jsonl`, import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CalibrationCase)
}

describe.each(presets)('%s', (file, criterion, id) => {
  it('has texts on both sides of its rule, with which a judge can be measured', async () => {
    const cases = casesOf(file)
    const passing = new Set(cases.filter(({ passes }) => passes).map(({ text }) => text))
    // A judge that knows the labels: it is the files that are tried here.
    const client = scriptedClient((request) => {
      const { data, ticket } = questionOf(request)
      const isYes = passing.has(data.text) !== (criterion.failIf === 'yes')
      return JSON.stringify({ ticket, scores: { [id]: isYes ? 1 : 0 } })
    })

    const [best] = await calibrateJudge({ client, criteria: [criterion] }, cases)

    expect([passing.size, cases.length]).toEqual([12, 24])
    expect(best).toMatchObject({ precision: 1, recall: 1 })
  })

  it('is the category of what it blocks', async () => {
    const client = scriptedClient((request) => {
      const { ticket } = questionOf(request)
      return JSON.stringify({ ticket, scores: { [id]: criterion.failIf === 'yes' ? 1 : 0 } })
    })
    const middleware = llmJudge({ client, criteria: [criterion] })
    const agent = new Agent({ client: scriptedClient(['Whatever.']), middleware })

    const { block } = await agent.run('Hi')

    expect(block?.category).toBe(id)
  })
})

it.each(runModes)('`grounded` reads the results of the tools, %s', async (mode) => {
  const sources: unknown[] = []
  const client = scriptedClient((request) => {
    const { data, ticket } = questionOf(request)
    sources.push((data as { sources?: unknown }).sources)
    return JSON.stringify({ ticket, scores: { ungrounded: 1 } })
  })
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'shipped on March 2' })
  const agent = new Agent({
    client: scriptedClient([callFunction('look'), 'It was shipped on March 2.']),
    tools: [look],
    middleware: llmJudge({ client, criteria: [grounded()] }),
  })

  await runIn(mode, agent)

  expect(sources.at(-1)).toEqual(['shipped on March 2'])
})

it.each([
  ['onTopic: `topics`', () => onTopic({ topics: [] })],
  ['language: `languages`', () => language()],
  ['competitors: `names`', () => competitors('')],
])('%s without a name is refused', (words, make) => {
  expect(make).toThrow(words)
})
