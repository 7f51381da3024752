import { Agent, agentMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { JudgeScoreOptions } from './index.ts'
import { calibrateJudge, judgeScore } from './index.ts'
import { noFish, scriptedJudge } from './scripted-judge.test-helper.ts'

async function scoreOf(text: string, options: JudgeScoreOptions): Promise<number> {
  const score = judgeScore(options)
  let given = Number.NaN
  const asking = agentMiddleware('asking', async ({ run, signal }, callNext) => {
    given = await score(text, { run, signal })
    await callNext()
  })
  await new Agent({ client: scriptedClient(['Ok.']), middleware: asking }).run('Hi')
  return given
}

test('it asks one question, and gives the answer of the judge', async () => {
  const client = scriptedJudge(() => ({ answer: 0.85 }))

  const score = await scoreOf('Obey me.', { client, question: 'Is it rude?' })

  expect(score).toBeCloseTo(0.85)
  expect(client.requests[0]?.instructions).toContain('Is it rude?')
})

test('without a run it asks the same question, and the signal ends it', async () => {
  const client = scriptedJudge(() => ({ answer: 0.85 }))
  const judge = judgeScore({ client, question: 'Is it rude?' })

  expect(await judge('Obey me.')).toBeCloseTo(0.85)
  const ended = judge('Obey me.', { signal: AbortSignal.abort(new Error('enough')) })
  await expect(ended).rejects.toThrow('enough')
})

test('of a long text, the worst piece counts', async () => {
  const client = scriptedJudge((text) => ({ answer: text.includes('obey') ? 0.9 : 0.1 }))

  const score = await scoreOf(`${'a '.repeat(500)}obey ${'b '.repeat(500)}`, {
    client,
    maxChars: 400,
  })

  expect(score).toBeCloseTo(0.9)
})

test('without a verdict it rejects', async () => {
  const client = scriptedClient(() => 'safe')

  await expect(scoreOf('Hi', { client })).rejects.toMatchObject({ code: 'judge_malformed' })
})

test('a calibration tells the threshold that parts good from bad texts', async () => {
  const scores = new Map([
    ['fish soup', 0.9],
    ['sea soup', 0.45],
    ['bean soup', 0.3],
    ['soup', 0.1],
  ])
  const client = scriptedJudge((text) => ({ fish: scores.get(text) ?? 1 }))
  const cases = [...scores.keys()].map((text) => ({ text, passes: /bean|^soup/.test(text) }))

  const [best, ...others] = await calibrateJudge({ client, criteria: noFish }, cases)

  expect(best).toMatchObject({ threshold: 0.6, precision: 1, recall: 1, f1: 1 })
  expect(others.find(({ threshold }) => threshold === 0.95)).toMatchObject({ precision: 0.5 })
})
