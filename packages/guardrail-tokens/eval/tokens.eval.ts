import { estimateTokens } from '@lamella/text'
import type { EvaluateGuardrailOptions } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'

/** The estimate, before it has learned anything; where the vocabulary is known there is nothing to measure. */
const options: EvaluateGuardrailOptions = {
  name: 'tokens',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: ({ text }) => ({ value: estimateTokens(text) }),
  truth: (row) => ({ value: Number(row['o200k_base']) }),
}

export default options
