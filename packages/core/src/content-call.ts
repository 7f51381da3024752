import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import type { LayeredCall } from './compose.ts'
import { normalizeResponse, ResponseFold } from './response-fold.ts'
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
  #metadata: Record<string, unknown> | undefined
  #transformers: { readonly depth: number; readonly transformer: UpdateTransformer<AgentResponseUpdate> }[] | undefined
  #passage: UpdatePassage<AgentResponseUpdate> | undefined
  #settled: Result | undefined
  #deliveredBefore: number
  #fault: { readonly error: unknown; readonly depth: number } | undefined

  constructor(run: Run) {
    this.run = run
    this.#deliveredBefore = run.sink.delivered
  }

  get metadata(): Record<string, unknown> {
    return (this.#metadata ??= {})
  }

  get stream(): boolean {
    return this.run.sink.streaming
  }

  get released(): boolean {
    return this.run.sink.delivered > this.#deliveredBefore
  }

  register(transformer: UpdateTransformer<AgentResponseUpdate>, depth: number): void {
    ;(this.#transformers ??= []).push({ depth, transformer })
  }

  enter(depth: number): void {
    this.result = undefined
    const transformers = this.#transformers
    while (transformers !== undefined && transformers.length > 0 && transformers.at(-1)!.depth > depth) {
      transformers.pop()
    }
  }

  fail(error: unknown, depth: number): void {
    if (this.#fault?.error !== error) this.#fault = { error, depth }
  }

  /** How deep the layer lies that `error` left first; 0 if none is known. */
  faultDepth(error: unknown): number {
    return this.#fault?.error === error ? this.#fault!.depth : 0
  }

  adopt(depth: number): void | Promise<void> {
    const { result } = this
    if (result === undefined || result === this.#settled) return undefined
    // The content is the same, so it has passed the transforms already.
    if (result.messages === this.#settled?.messages) {
      this.#settled = result
      return undefined
    }
    return this.deliver(result, depth)
  }

  /** Lets a plain result through the transforms of the layers outside `depth`. */
  deliver(result: Result, depth: number): void | Promise<void> {
    const plain = normalizeResponse(result) as Result
    if (!this.stream && !this.hasTransformers(depth)) {
      this.settle(plain)
      return undefined
    }
    const fold = new ResponseFold()
    const passage = this.open(depth, fold)
    return this.run.sink
      .drive(this.updatesOf(plain), passage)
      .then(() => this.settle(passage.changed ? this.refold(plain, fold) : plain))
  }

  settle(result: Result): void {
    this.result = this.#settled = result
  }

  hasTransformers(depth: number): boolean {
    return this.#transformers !== undefined && this.#transformers.some((entry) => entry.depth < depth)
  }

  /** Begins a pass through the transforms of the layers outside `depth`. */
  open(depth: number, fold: ResponseFold | undefined): UpdatePassage<AgentResponseUpdate> {
    const transformers: UpdateTransformer<AgentResponseUpdate>[] = []
    const registered = this.#transformers ?? []
    for (let index = registered.length - 1; index >= 0; index--) {
      if (registered[index]!.depth < depth) transformers.push(registered[index]!.transformer)
    }
    const passage = new UpdatePassage(transformers, fold, this.next)
    if (this.#passage?.released === true) passage.restart = this.restartUpdate
    this.#passage = passage
    return passage
  }

  /** The level further out, where there is one. */
  protected abstract get next(): UpdatePassage<AgentResponseUpdate> | undefined
  /** Tells a consumer that this call begins anew. */
  protected abstract readonly restartUpdate: AgentResponseUpdate
  protected abstract updatesOf(result: Result): Iterable<AgentResponseUpdate>
  /** `result` with the content that came through the transforms. */
  abstract refold(result: Result, fold: ResponseFold): Result
}
