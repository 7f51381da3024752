import { LamellaError } from '../base/lamella-error.ts'

/** A middleware broke the rules of the pipeline. The message names it. */
export class MiddlewareContractError extends LamellaError {
  /** The name of the middleware. */
  readonly middleware: string

  constructor(middleware: string, problem: string) {
    super(`middleware "${middleware}" ${problem}`, { code: 'middleware_contract' })
    this.middleware = middleware
  }

  override get name(): string {
    return 'MiddlewareContractError'
  }
}
