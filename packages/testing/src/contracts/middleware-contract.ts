import type { MiddlewareInput } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { ContractSuite } from './contract-suite.ts'
import { contractSuite } from './contract-suite.ts'
import { middlewareAnswerChecks } from './middleware-answer-checks.ts'
import { middlewarePassChecks } from './middleware-pass-checks.ts'
import { middlewareStopChecks } from './middleware-stop-checks.ts'
import type { MiddlewareSubject } from './middleware-subject.ts'
import { middlewareTimeCheck } from './middleware-time-check.ts'
import { timeLimitCheck } from './time-limit-check.ts'
import { levelsOf } from './middleware-trial.ts'
import { testClock } from '../base/test-clock.ts'
import { testRandom } from '../base/test-random.ts'

/** Options of `middlewareContract`. */
export interface MiddlewareContractOptions {
  /**
   * Name of the suite.
   * @default 'middleware contract'
   */
  readonly name?: string | undefined
  /**
   * Creates the middleware for each check. Pass `clock` and `random` to it if it has these options.
   */
  readonly create: (means: { clock: Clock; random: () => number }) => MiddlewareInput
  /**
   * A text that the middleware passes unchanged as input, answer and tool result.
   * @default 'The quick brown fox jumps over the lazy dog.'
   */
  readonly neutralText?: string | undefined
  /**
   * Answers that it changes or blocks: in any chunking, the result must equal that of a plain run.
   * @default none besides the neutral text
   */
  readonly texts?: readonly string[] | undefined
  /**
   * Milliseconds within which it must settle after an abort.
   * @default 1000
   */
  readonly promptMs?: number | undefined
  /**
   * Creates the middleware with each of its time limits at `ms` milliseconds, by the clock of the machine.
   * @default none: the check of long limits is left out
   */
  readonly createWithLimit?: ((ms: number) => MiddlewareInput) | undefined
  /** Names of checks to skip. */
  readonly except?: readonly string[] | undefined
}

/** Creates the contract suite for a middleware, for each level at which it has a part. */
export function middlewareContract(options: MiddlewareContractOptions): ContractSuite {
  const {
    name = 'middleware contract',
    neutralText = 'The quick brown fox jumps over the lazy dog.',
    texts = [],
    promptMs = 1000,
    createWithLimit,
  } = options
  const make = (): MiddlewareSubject => {
    const clock = testClock(1_767_225_600_000)
    return { clock, middleware: options.create({ clock, random: testRandom(1) }) }
  }
  const levels = [...levelsOf(make().middleware)]
  return contractSuite(
    name,
    [
      ...middlewarePassChecks({ make, levels, neutralText, texts }),
      ...middlewareStopChecks({ make, levels, neutralText, promptMs }),
      ...(levels.includes('chat') ? middlewareAnswerChecks(make) : []),
      middlewareTimeCheck(make, neutralText),
      ...(createWithLimit ? [timeLimitCheck(createWithLimit, neutralText)] : []),
    ],
    options.except,
  )
}
