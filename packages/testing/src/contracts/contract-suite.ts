import { LamellaError } from '@lamella/core'

/** One requirement. */
export interface ContractCheck {
  /** Name of the check, a sentence. */
  readonly name: string
  /** Rejects with the violation. */
  run(): Promise<void>
}

/** All requirements for one kind of object. Any test runner can run it. */
export interface ContractSuite {
  /** Name of the suite. */
  readonly name: string
  /** Checks of the suite. */
  readonly checks: readonly ContractCheck[]
}

/** Functions of vitest, `node:test`, mocha, jest, bun or Deno. */
export interface TestRunner {
  /** Groups tests. */
  describe(name: string, body: () => void): unknown
  /** Registers a test. */
  it(name: string, body: () => Promise<void>): unknown
}

/** Registers the checks of a suite as tests of a runner. */
export function describeContract(suite: ContractSuite, runner: TestRunner): void {
  runner.describe(suite.name, () => {
    for (const check of suite.checks) runner.it(check.name, () => check.run())
  })
}

/** Thrown when a contract is violated. Its code is `contract_violated`. */
export class ContractViolation extends LamellaError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { code: 'contract_violated', cause: options.cause })
  }

  override get name(): string {
    return 'ContractViolation'
  }
}

/**
 * Creates a suite without the checks that `except` names. @throws RangeError for an unknown name.
 */
export function contractSuite(
  name: string,
  checks: readonly ContractCheck[],
  except: readonly string[] = [],
): ContractSuite {
  const unknown = except.find((left) => checks.every((check) => check.name !== left))
  if (unknown !== undefined)
    throw new RangeError(`${name}: \`except\` names no check: "${unknown}"`)
  return { name, checks: checks.filter((check) => !except.includes(check.name)) }
}
