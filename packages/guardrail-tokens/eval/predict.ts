import { estimateTokens } from '@lamella/core/authoring'
import type { GuardEvaluation } from '../../../scripts/guard-evaluation.ts'

/** The estimate, before it has learned anything; where the vocabulary is known there is nothing to measure. */
export const evaluation: GuardEvaluation = {
  predict: ({ text }) => ({ value: estimateTokens(text) }),
  truth: (row) => ({ value: Number(row['o200k_base']) }),
}
