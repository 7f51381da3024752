import { Agent } from '@lamella/core'
import { contentFilter } from '@lamella/guardrail-content'
import { scriptedClient } from '@lamella/testing'
import type { GuardrailEvaluation } from '../../../scripts/evaluation/guardrail-evaluation.ts'

const agent = new Agent({
  client: scriptedClient(() => 'Yes.'),
  middleware: contentFilter({ leet: true }),
})

/** The list of coarse words, as it comes: what a text means is for moderators to judge. */
export const evaluation: GuardrailEvaluation = {
  predict: async ({ text }) => ({ flag: (await agent.run(text)).status === 'blocked' }),
}
