import { LamellaError } from '../base/lamella-error.ts'

/** A middleware broke the rules of the pipeline. The message names it. */
export class MiddlewareContractError extends LamellaError {
  /** The name of the middleware. Empty if no middleware is known. */
  readonly middleware: string

  constructor(middleware: string, problem: string) {
    const who = middleware === '' ? '' : `middleware "${middleware}" `
    super(who + problem, { code: 'middleware_contract' })
    this.middleware = middleware
  }

  override get name(): string {
    return 'MiddlewareContractError'
  }
}
