import { chatResponse } from '@lamella/core'
import { parseVerdict } from '@lamella/guardrail-judge'
import type { EvaluateGuardrailOptions } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'

/**
 * Predicts if an answer of a judge is rejected. A line is what a judge might say to a question with the
 * ticket `ticket-1` and the criterion `fish`: how well a model judges is for `calibrateJudge()` to tell.
 */
const options: EvaluateGuardrailOptions = {
  name: 'judge',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: ({ text }) => {
    try {
      parseVerdict(chatResponse(text), ['fish'], 'ticket-1')
      return { flag: false }
    } catch {
      return { flag: true }
    }
  },
}

export default options
