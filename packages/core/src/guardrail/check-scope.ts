import { LamellaError } from '../base/lamella-error.ts'
import { unlessAborted } from '../base/promises.ts'
import type { AgentContext } from '../contract/agent.ts'
import type { ChatContext } from '../contract/chat.ts'
import type { FunctionInvocationContext, RunContext } from '../contract/run.ts'
import type { Verdict } from './verdict.ts'

/** The context of a call that a guardrail can stand around. */
export type GuardrailContext = AgentContext | ChatContext | FunctionInvocationContext

/** What a check may use. */
export interface CheckContext {
  readonly run: RunContext
  /** Aborted when the run is, and when the check has taken too long. */
  readonly signal: AbortSignal
  /** The call that the guardrail stands around. */
  readonly call: GuardrailContext
}

/** The context of one check. Its signal is made when it is asked for. */
export class CheckScope implements CheckContext {
  readonly call: GuardrailContext
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined

  constructor(call: GuardrailContext) {
    this.call = call
  }

  get run(): RunContext {
    return this.call.run
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return (this.#signal ??= AbortSignal.any([this.call.signal, this.#controller.signal]))
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
    const inTime = unlessAborted(this.call.signal, Promise.race([verdict, late]))
    return inTime.finally(() => clearTimeout(timer))
  }
}
