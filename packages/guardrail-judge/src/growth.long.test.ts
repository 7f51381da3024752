import { Agent, agentMiddleware, chatResponse } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { testGrowthOfExports } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'
import { fishJudge, noFish, scriptedJudge } from './scripted-judge.test-helper.ts'

const { calibrateJudge, judgeScore, llmJudge, parseVerdict } = exports

/** Runs an agent with a middleware that asks for the score of a text. */
async function score(client: ReturnType<typeof fishJudge>, text: string): Promise<void> {
  const ask = judgeScore({ client })
  const asking = agentMiddleware('asking', async ({ run, signal }, callNext) => {
    await ask(text, { run, signal }).catch(() => {})
    await callNext()
  })
  await new Agent({ client: scriptedClient(['Ok.']), middleware: asking }).run('Hi')
}

testGrowthOfExports(exports, {
  texts: {
    parseVerdict: (text) => {
      try {
        return parseVerdict(chatResponse(text), ['fish'], 'ticket')
      } catch {
        return undefined
      }
    },
    calibrateJudge: (text) =>
      calibrateJudge({ client: fishJudge(), criteria: noFish }, [{ text, passes: true }]),
    judgeScore: (text) =>
      score(
        scriptedJudge(() => ({ answer: 0.5 })),
        text,
      ),
    'judgeScore (reading an answer)': (text) =>
      score(
        scriptedClient(() => text),
        'Hi',
      ),
  },
  others: ['competitors', 'grounded', 'language', 'onTopic'],
  middlewares: {
    llmJudge: () => llmJudge({ client: fishJudge(), criteria: noFish }),
  },
})
