import { injectionAssessor } from '@lamella/guardrail-injection'
import type { EvaluateGuardrailOptions } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'

const assess = injectionAssessor()
const assessResult = injectionAssessor({ source: 'result' })

/** The patterns at the default threshold, without a classifier or a judge. */
const options: EvaluateGuardrailOptions = {
  name: 'injection',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: ({ text, source }) => {
    const { score } = source === 'result' ? assessResult(text) : assess(text)
    return { flag: score >= 0.6, score }
  },
}

export default options
