import { LamellaError } from '@lamella/core'
import type { Evaluation } from './evaluation.ts'
import { tableOf } from './table-of.ts'

/**
 * Throws if an evaluation failed or got worse, with its table as the message. It works in every test runner.
 * An undecided evaluation passes: it needs more runs.
 * @throws LamellaError `evaluation_failed`
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { assertPassed, evaluate, includes } from '@lamella/evals'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Until six.']) })
 * const cases = [{ id: 'hours', input: 'When do you close?' }]
 * assertPassed(await evaluate({ agent, cases, checks: [includes('six')] }))
 * ```
 */
export function assertPassed(evaluation: Evaluation): void {
  if (isBad(evaluation)) throw new LamellaError(tableOf(evaluation), { code: 'evaluation_failed' })
}

/** Tells if a build should fail. */
export function isBad({ verdict }: Evaluation): boolean {
  return verdict === 'failed' || verdict === 'worse'
}

/** Matchers for `expect.extend` of vitest, jest or bun: `expect(evaluation).toHavePassed()`. */
export const evaluationMatchers: {
  /** Fails if an evaluation failed or got worse. */
  readonly toHavePassed: (evaluation: Evaluation) => {
    /** True if it did neither. */
    readonly pass: boolean
    /** Returns the table of the evaluation. */
    readonly message: () => string
  }
} = {
  toHavePassed: (evaluation) => ({
    pass: !isBad(evaluation),
    message: () => tableOf(evaluation),
  }),
}
