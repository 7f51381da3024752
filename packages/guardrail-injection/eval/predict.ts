import { injectionAssessor } from '@lamella/guardrail-injection'
import type { GuardrailEvaluation } from '../../../scripts/evaluation/guardrail-evaluation.ts'

const assess = injectionAssessor()

/** The patterns at the default threshold, without a classifier or a judge. */
export const evaluation: GuardrailEvaluation = {
  predict: ({ text }) => {
    const { score } = assess(text)
    return { flag: score >= 0.6, score }
  },
}
