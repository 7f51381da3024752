import { Agent } from '@lamella/core'
import { contentFilter } from '@lamella/guardrail-content'
import { scriptedClient } from '@lamella/testing'
import type { EvaluateGuardrailOptions } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'

const agent = new Agent({
  client: scriptedClient(() => 'Yes.'),
  middleware: contentFilter({ leet: true }),
})

/** The list of coarse words, as it comes: what a text means is for moderators to judge. */
const options: EvaluateGuardrailOptions = {
  name: 'content',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: async ({ text }) => ({ flag: (await agent.run(text)).status === 'blocked' }),
}

export default options
