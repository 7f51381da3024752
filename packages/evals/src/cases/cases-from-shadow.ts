import { isObject } from '@lamella/core/authoring'
import type { EvaluationCase } from './evaluation-case.ts'
import type { GatheredCases } from './gathered-cases.ts'

/**
 * Makes cases of what guardrails in shadow mode would have acted on: each different text once, with the
 * guardrail, the stage and the category as tags. Texts of the stage `input` are inputs for an agent;
 * all of them are lines for an evaluation of the guardrail, once a person has labeled them. Events without a
 * text are skipped: a guardrail with `includeContent` passes it to its `onEvent`.
 * @param events values that `onEvent` of guardrails received
 * @example
 * ```ts
 * import { casesFromShadow } from '@lamella/evals'
 *
 * const events = [{ guardrail: 'pii', stage: 'input', status: 'shadow', match: 'I am 555-0100' }]
 * const { cases } = casesFromShadow(events)
 * console.log(cases[0]?.input, cases[0]?.tags) // I am 555-0100 [ 'pii', 'input' ]
 * ```
 */
export function casesFromShadow(events: Iterable<unknown>): GatheredCases {
  const cases = new Map<string, EvaluationCase>()
  let skipped = 0
  for (const event of events) {
    if (!isObject(event) || event['status'] !== 'shadow') continue
    const { guardrail, stage, category, match } = event
    if (typeof match !== 'string' || match === '') {
      skipped++
      continue
    }
    const tags = [guardrail, stage, category].filter((tag) => typeof tag === 'string')
    const key = JSON.stringify([tags, match])
    const id = `shadow-${cases.size + 1}`
    if (!cases.has(key)) cases.set(key, { id, input: match, tags })
  }
  return { cases: [...cases.values()], skipped }
}
