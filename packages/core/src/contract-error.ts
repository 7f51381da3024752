import { LamellaError } from './lamella-error.ts'

/** A layer broke the rules of the pipeline. The message names it. */
export class MiddlewareContractError extends LamellaError {
  /** The name of the layer. */
  readonly middleware: string

  constructor(middleware: string, problem: string) {
    super(`middleware "${middleware}" ${problem}`, { code: 'middleware_contract' })
    this.middleware = middleware
  }

  override get name(): string {
    return 'MiddlewareContractError'
  }
}
