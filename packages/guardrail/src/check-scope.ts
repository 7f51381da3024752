import { LamellaError } from '@lamella/core'
import { withinTime } from '@lamella/core/authoring'
import type {
  AgentContext,
  ChatContext,
  FunctionInvocationContext,
  RunContext,
} from '@lamella/core'
import type { Verdict } from './verdict.ts'

/** Context of a run, model call or tool call that a guardrail checks. */
export type GuardrailContext = AgentContext | ChatContext | FunctionInvocationContext

/** Context of a check. */
export interface CheckContext {
  /** The run. */
  readonly run: RunContext
  /** Aborts with the run, and when the check exceeds `timeoutMs`. */
  readonly signal: AbortSignal
  /** Context of the middleware: of the run, the model call or the tool call. */
  readonly call: GuardrailContext
}

/** Context of one check. Creates its signal on first use. */
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

  /** Settles like the verdict. Rejects on an abort and after `timeoutMs`. */
  within(verdict: PromiseLike<Verdict>, timeoutMs: number, name: string): Promise<Verdict> {
    const late = (): LamellaError => {
      const words = `guardrail "${name}" gave no verdict within ${timeoutMs} ms`
      const error = new LamellaError(words, { code: 'guardrail_timeout' })
      this.#controller?.abort(error)
      return error
    }
    const { run, signal } = this.call
    return withinTime(verdict, { clock: run.clock, timeoutMs, signal }, late)
  }
}
