import type { MiddlewareInput } from '@lamella/core'
import { Agent } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import { scriptedClient } from '@lamella/testing'
import type { LabelledLine, Prediction } from './labelled-line.ts'

/** Options of {@link predictWith}. */
export interface PredictWithOptions {
  /** Use of the text: the input of the run, or the answer of the model. @default 'input' */
  readonly as?: 'input' | 'output' | undefined
}

/**
 * Creates a prediction from a guardrail as it is used: it trips if a run with the text is blocked, or if
 * the guardrail replaces, flags or would have acted in shadow mode. The text is the input of the run; with
 * `as: 'output'` it is the answer.
 */
export function predictWith(
  guardrail: MiddlewareInput,
  { as = 'input' }: PredictWithOptions = {},
): (line: LabelledLine) => Promise<Prediction> {
  return async ({ text }) => {
    let flag = false
    const client = scriptedClient(() => (as === 'output' ? text : 'Yes.'))
    const { status } = await new Agent({ client, middleware: guardrail }).run(
      as === 'input' ? text : 'Go.',
      {
        onEvent: ({ type, data }) => {
          const report = type === 'guardrail' && isObject(data) ? data['status'] : 'passed'
          if (report === 'error') throw new Error('the guardrail failed')
          if (report !== 'passed') flag = true
        },
      },
    )
    return { flag: flag || status === 'blocked' }
  }
}
