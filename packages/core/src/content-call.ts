import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import { MiddlewareContractError } from './contract-error.ts'
import type { LayeredCall } from './layered-call.ts'
import { normalizeResponse } from './normalize-response.ts'
import { ResponseFold } from './response-fold.ts'
import type { Run } from './run.ts'
import { UpdatePassage } from './update-passage.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/**
 * A call whose result is made of messages: one model call, or one run. It keeps the transforms that
 * layers register and lets every result through them, wherever it comes from: a source that
 * streams, a plain response, or a layer that put its own in place.
 */
export abstract class ContentCall<Result extends ChatResponse> implements LayeredCall<Result> {
  readonly run: Run
  result: Result | undefined
  /** Rises whenever what is inside begins anew or nobody waits for it any more. */
  turn = 0
  readonly #layers: readonly { readonly name: string }[]
  #metadata: Record<string, unknown> | undefined
  #transformers:
    | { readonly depth: number; readonly transformer: UpdateTransformer<AgentResponseUpdate> }[]
    | undefined
  /** How deep the layer lies that called its `callNext()` last. */
  #entered = -1
  #passage: UpdatePassage<AgentResponseUpdate> | undefined
  /** Whether content of a pass before this one has reached the caller. */
  #releasedBefore = false
  #settled: Result | undefined
  /** The pass that `#settled` came through. */
  #settledBy: UpdatePassage<AgentResponseUpdate> | undefined
  /** What had settled before: it has passed the transforms too. */
  #earlier: Result[] | undefined
  #fault: { readonly error: unknown; readonly depth: number } | undefined

  /** `layers` are named where one breaks the rules. */
  constructor(run: Run, layers: readonly { readonly name: string }[]) {
    this.run = run
    this.#layers = layers
  }

  get metadata(): Record<string, unknown> {
    return (this.#metadata ??= {})
  }

  get stream(): boolean {
    return this.run.sink.streaming
  }

  get released(): boolean {
    const passage = this.#passage
    if (passage === undefined || this.#releasedBefore) return this.#releasedBefore
    return passage.released && this.run.sink.delivered > passage.deliveredBefore
  }

  register(transformer: UpdateTransformer<AgentResponseUpdate>, depth: number): void {
    if (depth <= this.#entered) {
      throw new MiddlewareContractError(
        this.#layers[depth]!.name,
        'called transformUpdates() after callNext(); register before',
      )
    }
    ;(this.#transformers ??= []).push({ depth, transformer })
  }

  enter(depth: number): void {
    this.turn++
    this.#entered = depth
    this.result = undefined
    const kept = this.#transformers?.findLastIndex((entry) => entry.depth <= depth)
    if (kept !== undefined) this.#transformers!.length = kept + 1
  }

  fail(error: unknown, depth: number): void {
    if (this.#fault?.error !== error) this.#fault = { error, depth }
  }

  /** How deep the layer lies that `error` left first; 0 if none is known. */
  faultDepth(error: unknown): number {
    return this.#fault?.error === error ? this.#fault!.depth : 0
  }

  abandon(error: unknown): void {
    this.turn++
    this.run.sink.breakOff(error)
  }

  adopt(depth: number): void | Promise<void> {
    const { result } = this
    if (result === undefined || result === this.#settled) {
      return result === undefined || this.#isShown() ? undefined : this.deliver(result, 0)
    }
    // Content that has passed the transforms does not pass them again.
    const { messages } = result
    const isSettled = messages === this.#settled?.messages
    if (isSettled && this.#isShown()) {
      this.settle(normalizeResponse(result) as Result)
      return undefined
    }
    if (isSettled || this.#earlier?.some((earlier) => earlier.messages === messages)) {
      return this.deliver(result, 0)
    }
    return this.deliver(withoutLeftovers(result, this.#settled), depth)
  }

  /** Lets a plain result through the transforms of the layers outside `depth`. */
  deliver(result: Result, depth: number): void | Promise<void> {
    const plain = normalizeResponse(result) as Result
    if (!this.stream && !this.hasTransformers(depth)) {
      this.settle(plain)
      return undefined
    }
    const { turn } = this
    const fold = new ResponseFold()
    const passage = this.open(depth, fold)
    return this.run.sink.drive(this.updatesOf(plain), passage).then(() => {
      if (turn === this.turn) this.settle(passage.changed ? this.refold(plain, fold) : plain)
    })
  }

  settle(result: Result): void {
    if (this.#settled !== undefined) (this.#earlier ??= []).push(this.#settled)
    this.result = this.#settled = result
    this.#settledBy = this.#passage
  }

  hasTransformers(depth: number): boolean {
    return (
      this.#transformers !== undefined && this.#transformers.some((entry) => entry.depth < depth)
    )
  }

  /** Begins a pass through the transforms of the layers outside `depth`. */
  open(depth: number, fold: ResponseFold | undefined): UpdatePassage<AgentResponseUpdate> {
    const transformers: UpdateTransformer<AgentResponseUpdate>[] = []
    const registered = this.#transformers ?? []
    for (let index = registered.length - 1; index >= 0; index--) {
      if (registered[index]!.depth < depth) transformers.push(registered[index]!.transformer)
    }
    const passage = new UpdatePassage(transformers, fold, this.next)
    if (this.mustRestart) passage.restart = this.restartUpdate
    this.#releasedBefore = this.released
    this.#passage = passage
    return passage
  }

  /** Whether something went out that a new pass makes void. */
  protected get mustRestart(): boolean {
    const passage = this.#passage
    return (
      passage !== undefined &&
      (passage.released || (passage.restart !== undefined && !passage.started))
    )
  }

  /** Whether the caller has what `#settled` holds, and no later pass has made it void. */
  #isShown(): boolean {
    return this.#settledBy === this.#passage || !this.#passage!.started
  }

  /** The level further out, where there is one. */
  protected abstract get next(): UpdatePassage<AgentResponseUpdate> | undefined
  /** Tells a consumer that this call begins anew. */
  protected abstract get restartUpdate(): AgentResponseUpdate
  protected abstract updatesOf(result: Result): Iterable<AgentResponseUpdate>
  /** `result` with the content that came through the transforms. */
  abstract refold(result: Result, fold: ResponseFold): Result
}

/** What the SDK returned, and the value of other content, do not belong to what a layer put in place. */
function withoutLeftovers<Result extends ChatResponse>(
  result: Result,
  before: Result | undefined,
): Result {
  const { raw, value, ...kept } = result
  if (raw === undefined && value === undefined) return result
  return (value === before?.value ? kept : { ...kept, value }) as Result
}
