import { MiddlewareContractError } from '@lamella/core'
import { toFunctionResult } from '@lamella/core/authoring'
import type {
  FunctionInvocationContext,
  RunContext,
  Tool,
  FunctionResult,
  Session,
} from '@lamella/core'
import type { FunctionHookContext } from './hooks.ts'

/** One tool call, as the hooks before and after it see it. An edit at the wrong moment throws. */
export class FunctionHookView implements FunctionHookContext {
  readonly #context: FunctionInvocationContext
  readonly #owner: string
  readonly #arguments: Readonly<Record<string, unknown>>
  #phase: 'before' | 'after' | 'neither' = 'before'
  #isBlocked = false
  #override: unknown
  #result: FunctionResult | undefined
  #exception: unknown

  constructor(context: FunctionInvocationContext, owner: string) {
    this.#context = context
    this.#owner = owner
    this.#arguments = context.arguments
  }

  get run(): RunContext {
    return this.#context.run
  }

  get function(): Tool {
    return this.#context.function
  }

  get callId(): string {
    return this.#context.callId
  }

  get session(): Session | undefined {
    return this.#context.session
  }

  get metadata(): Record<string, unknown> {
    return this.#context.metadata
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get arguments(): Readonly<Record<string, unknown>> {
    return this.#arguments
  }

  get blockExecution(): boolean {
    return this.#isBlocked
  }

  set blockExecution(blocks: boolean) {
    this.#check('before', 'blockExecution')
    this.#isBlocked = blocks
  }

  get overrideResult(): unknown {
    return this.#override
  }

  set overrideResult(result: unknown) {
    this.#check('before', 'overrideResult')
    this.#override = result
  }

  get result(): FunctionResult | undefined {
    return this.#result
  }

  set result(value: unknown) {
    this.#check('after', 'result')
    this.#result = toFunctionResult(value)
  }

  get exception(): unknown {
    return this.#exception
  }

  set exception(error: unknown) {
    this.#check('after', 'exception')
    this.#exception = error
  }

  /** No hook may edit from here on: the tool call begins, or all hooks are done. */
  seal(): void {
    this.#phase = 'neither'
  }

  /** The tool call is over. */
  finish(result: FunctionResult | undefined, error: unknown): void {
    this.#phase = 'after'
    this.#result = result
    this.#exception = error
  }

  misuse(what: string): MiddlewareContractError {
    return new MiddlewareContractError(this.#owner, `set ${what}, where it changes nothing`)
  }

  #check(phase: 'before' | 'after', name: string): void {
    if (this.#phase === phase) return
    throw this.misuse(`\`${name}\` outside of ${phase}Function`)
  }
}
