import { estimateTokens } from '@lamella/text'
import type { GuardrailEvaluation } from '../../../scripts/evaluation/guardrail-evaluation.ts'

/** The estimate, before it has learned anything; where the vocabulary is known there is nothing to measure. */
export const evaluation: GuardrailEvaluation = {
  predict: ({ text }) => ({ value: estimateTokens(text) }),
  truth: (row) => ({ value: Number(row['o200k_base']) }),
}
