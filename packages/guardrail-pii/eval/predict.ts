import type {
  EvaluationRow,
  GuardrailEvaluation,
} from '../../../scripts/evaluation/guardrail-evaluation.ts'
import { findPii } from '../src/find/find-pii.ts'

/** Rows with labelled spans may name the `region` of their author. All others are about secrets. */
export const evaluation: GuardrailEvaluation = {
  predict: (row) => ({ preds: Array.isArray(row['spans']) ? findAll(row) : findSecrets(row) }),
}

const findSecrets = ({ text }: EvaluationRow) => findPii(text, { entities: ['secrets'] })

function findAll({ text, region }: EvaluationRow) {
  return findPii(text, {
    entities: ['contact', 'financial', 'gov-id-us', 'gov-id-eu', 'gov-id-world', 'network', 'url'],
    decode: ['base64', 'url', 'hex'],
    regions: typeof region === 'string' && /^[A-Z]{2}$/.test(region) ? [region] : [],
  })
}
