import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import { LamellaError } from './lamella-error.ts'
import type { RunContext } from './run-context.ts'
import { unlessAborted } from './unless-aborted.ts'
import type { Verdict } from './verdict.ts'

/** The context of a call that a guard can stand around. */
export type GuardedContext = AgentContext | ChatContext | FunctionInvocationContext

/** What a check may use. */
export interface CheckContext {
  readonly run: RunContext
  /** Aborted when the run is, and when the check has taken too long. */
  readonly signal: AbortSignal
  /** The call that the guard stands around. */
  readonly layer: GuardedContext
}

/** The context of one check. Its signal is made when it is asked for. */
export class CheckScope implements CheckContext {
  readonly layer: GuardedContext
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined

  constructor(layer: GuardedContext) {
    this.layer = layer
  }

  get run(): RunContext {
    return this.layer.run
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return (this.#signal ??= AbortSignal.any([this.layer.signal, this.#controller.signal]))
  }

  /** Settles as the verdict does, rejects on an abort and when the time is up. */
  within(verdict: PromiseLike<Verdict>, timeoutMs: number, name: string): Promise<Verdict> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new LamellaError(
          `guardrail "${name}" gave no verdict within ${timeoutMs} ms`,
          { code: 'guardrail_timeout' },
        )
        reject(error)
        this.#controller?.abort(error)
      }, timeoutMs)
    })
    const inTime = unlessAborted(this.layer.signal, Promise.race([verdict, late]))
    return inTime.finally(() => clearTimeout(timer))
  }
}
