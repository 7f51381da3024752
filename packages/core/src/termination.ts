import { LamellaError } from './lamella-error.ts'

export interface TerminationOptions {
  /** Takes the place of the response of the level at which it is thrown. */
  readonly result?: unknown
  readonly cause?: unknown
}

/** Thrown by a layer to end its pipeline on purpose. It is an outcome, not a failure. */
export class MiddlewareTermination extends LamellaError {
  readonly result: unknown

  constructor(
    message = 'terminated by a middleware',
    options: TerminationOptions = {},
    code = 'middleware_termination',
  ) {
    super(message, { code, cause: options.cause })
    this.result = options.result
  }

  override get name(): string {
    return 'MiddlewareTermination'
  }

  override get '~lamella'(): string {
    return 'termination'
  }
}

/** What tripped, without a word of the text that did it. */
export interface Block {
  readonly guardrail: string
  readonly level: 'agent' | 'chat' | 'function'
  readonly stage: 'input' | 'output' | 'arguments' | 'result'
  readonly category: string
  /** What the user may read. */
  readonly message: string
}

/** Thrown by a guard: the run ends as `blocked`, whatever the level. */
export class GuardrailTripped extends MiddlewareTermination {
  readonly block: Block

  constructor(block: Block, options: { readonly cause?: unknown } = {}) {
    super(
      `guardrail ${block.guardrail} blocked ${block.stage}: ${block.category}`,
      options,
      'guardrail_tripped',
    )
    this.block = block
  }

  override get name(): string {
    return 'GuardrailTripped'
  }
}

/** Thrown when an allowance is used up: the run ends as `budget_exhausted`, whatever the level. */
export class BudgetExhausted extends MiddlewareTermination {
  /** Such as `tokens` or `modelCalls`. */
  readonly budget: string
  readonly limit: number

  constructor(budget: string, limit: number, options: TerminationOptions = {}) {
    super(`budget exhausted: ${budget} reached ${limit}`, options, 'budget_exhausted')
    this.budget = budget
    this.limit = limit
  }

  override get name(): string {
    return 'BudgetExhausted'
  }
}

/** Whether `error` is a termination of any kind, of this copy of core or another. */
export function isTermination(error: unknown): error is MiddlewareTermination {
  return LamellaError.is(error) && error['~lamella'] === 'termination'
}

/** Whether a termination ends the whole run, at whatever level it was thrown. */
export function endsRun(error: unknown): boolean {
  return LamellaError.is(error, 'guardrail_tripped') || LamellaError.is(error, 'budget_exhausted')
}
