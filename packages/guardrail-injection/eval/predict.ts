import { injectionAssessor } from '@lamella/guardrail-injection'
import type { GuardEvaluation } from '../../../scripts/guard-evaluation.ts'

const assess = injectionAssessor()

/** The patterns at the default threshold, without a classifier or a judge. */
export const evaluation: GuardEvaluation = {
  predict: ({ text }) => {
    const { score } = assess(text)
    return { flag: score >= 0.7, score }
  },
}
