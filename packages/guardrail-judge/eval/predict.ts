import { chatResponse } from '@lamella/core'
import { parseVerdict } from '@lamella/guardrail-judge'
import type { GuardrailEvaluation } from '../../../scripts/evaluation/guardrail-evaluation.ts'

/**
 * Predicts if an answer of a judge is rejected. A line is what a judge might say to a question with the
 * ticket `ticket-1` and the criterion `fish`: how well a model judges is for `calibrateJudge()` to tell.
 */
export const evaluation: GuardrailEvaluation = {
  predict: ({ text }) => {
    try {
      parseVerdict(chatResponse(text), ['fish'], 'ticket-1')
      return { flag: false }
    } catch {
      return { flag: true }
    }
  },
}
