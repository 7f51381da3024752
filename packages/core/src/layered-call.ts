import type { MiddlewareContractError } from './contract-error.ts'

/** What all layers of one call share. */
export interface LayeredCall<Result> {
  result: Result | undefined
  /** Called before the inside of the layer at `depth` runs: what is registered further in is void. */
  enter(depth: number): void
  /** Called when a layer is done: takes in a result that the layer put in place itself. */
  adopt(depth: number): void | Promise<void>
  /** Told which layer an error left, from inside out. */
  fail(error: unknown, depth: number): void
  /** Called when a layer has left while its `callNext()` was still running: nobody waits for that any more. */
  abandon(error: unknown): void
}

/** The view that one layer has of a call. Each layer has its own, so an edit is seen only inside. */
export interface LayerContext<Result> {
  readonly call: LayeredCall<Result>
  /** 0 for the outermost layer. */
  readonly depth: number
  /** What its `callNext()` returned, while that is running. */
  inside: Promise<Result> | undefined
  /** How the layer broke the rules, which holds even if it swallows the error. */
  broken?: MiddlewareContractError
  /** A view for the next layer in, with the inputs as they are now. */
  derive(): this
}
