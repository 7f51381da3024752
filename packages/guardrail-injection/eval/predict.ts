import { injectionAssessor } from '@lamella/guardrail-injection'
import type { GuardrailEvaluation } from '../../../scripts/evaluation/guardrail-evaluation.ts'

const assess = injectionAssessor()
const assessResult = injectionAssessor({ source: 'result' })

/** The patterns at the default threshold, without a classifier or a judge. */
export const evaluation: GuardrailEvaluation = {
  predict: ({ text, source }) => {
    const { score } = source === 'result' ? assessResult(text) : assess(text)
    return { flag: score >= 0.6, score }
  },
}
