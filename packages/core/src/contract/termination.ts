import { LamellaError } from '../base/lamella-error.ts'

/** Options of a termination. */
export interface TerminationOptions {
  /** Replaces the response of the level at which it is thrown. @default the response so far */
  readonly result?: unknown
  /** Original error. */
  readonly cause?: unknown
}

/** Thrown by a middleware to end its pipeline on purpose. It is an outcome, not a failure. */
export class MiddlewareTermination extends LamellaError {
  /** Replaces the response of the level at which it is thrown. Undefined keeps the response so far. */
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

/** Report of a block. Contains no text of the blocked content. */
export interface Block {
  /** Name of the guardrail. */
  readonly guardrail: string
  /** Level of the middleware that blocked. */
  readonly level: 'agent' | 'chat' | 'function'
  /** Content that was blocked. */
  readonly stage: 'input' | 'output' | 'arguments' | 'result'
  /** Category of the violation, as the guardrail names it. */
  readonly category: string
  /** Message for the user. Empty for the agent's `blockMessage`. */
  readonly message: string
}

/** Thrown by a guardrail to end the run as `blocked`, at any level. */
export class GuardrailTripped extends MiddlewareTermination {
  /** Report of the guardrail. */
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

/** Thrown when a budget is used up, to end the run as `budget_exhausted`, at any level. */
export class BudgetExhausted extends MiddlewareTermination {
  /** Name of the budget, such as `tokens` or `modelCalls`. */
  readonly budget: string
  /** Limit that was reached, in the budget's unit. */
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

/** Returns true if `error` is a termination of any kind, from this copy of core or another. */
export function isTermination(error: unknown): error is MiddlewareTermination {
  return LamellaError.is(error) && error['~lamella'] === 'termination'
}

/** Returns true if a termination ends the whole run, regardless of the level that threw it. */
export function endsRun(error: unknown): boolean {
  return LamellaError.is(error, 'guardrail_tripped') || LamellaError.is(error, 'budget_exhausted')
}
