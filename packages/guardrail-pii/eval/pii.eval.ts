import type { EvaluateGuardrailOptions, LabelledLine } from '@lamella/evals'
import { readLines } from '@lamella/evals/file'
import { findPii } from '../src/find/find-pii.ts'

/** Rows with labelled spans may name the `region` of their author. All others are about secrets. */
const options: EvaluateGuardrailOptions = {
  name: 'pii',
  lines: readLines(new URL('corpus.jsonl', import.meta.url)),
  predict: (row) => ({ preds: Array.isArray(row['spans']) ? findAll(row) : findSecrets(row) }),
}

export default options

const findSecrets = ({ text }: LabelledLine) => findPii(text, { entities: ['secrets'] })

function findAll({ text, region }: LabelledLine) {
  return findPii(text, {
    entities: ['contact', 'financial', 'gov-id-us', 'gov-id-eu', 'gov-id-world', 'network', 'url'],
    decode: ['base64', 'url', 'hex'],
    regions: typeof region === 'string' && /^[A-Z]{2}$/.test(region) ? [region] : [],
  })
}
