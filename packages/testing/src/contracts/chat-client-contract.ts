import { clientAnswerChecks } from './client-answer-checks.ts'
import type { CreateClient } from './client-check.ts'
import { clientCheck } from './client-check.ts'
import { clientFailureChecks } from './client-failure-checks.ts'
import { clientHistoryChecks } from './client-history-checks.ts'
import type { ContractSuite } from './contract-suite.ts'
import { contractSuite } from './contract-suite.ts'

/** Options of `chatClientContract`. */
export interface ChatClientContractOptions {
  /**
   * Name of the suite.
   * @default 'chat client contract'
   */
  readonly name?: string | undefined
  /** Creates a client, and a provider that plays a scenario, for each check. */
  readonly create: CreateClient
  /**
   * Milliseconds within which an aborted call must settle.
   * @default 1000
   */
  readonly promptMs?: number | undefined
  /** Names of checks to skip. */
  readonly except?: readonly string[] | undefined
}

/** Creates the contract suite for a `ChatClient`. */
export function chatClientContract(options: ChatClientContractOptions): ContractSuite {
  const { name = 'chat client contract', create, promptMs = 1000, except } = options
  const check = clientCheck(create)
  return contractSuite(
    name,
    [
      ...clientAnswerChecks(check),
      ...clientHistoryChecks(check),
      ...clientFailureChecks(check, promptMs),
    ],
    except,
  )
}
