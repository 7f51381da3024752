import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { ChatOptions, ResponseFormat } from '../contract/chat-options.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import { withoutPartial } from '../contract/provider-error.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toUpdates } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import { withAuthor } from '../messages/message.ts'
import { normalizeResponse } from '../messages/normalize-response.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import type { Run } from '../run/run.ts'
import { TransformPipeline } from '../stream/transform-pipeline.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import type { PipelineCall } from './compose.ts'
import { CallView, defineInputs } from './compose.ts'
import { withOwnIds } from './own-ids.ts'
import { withValue } from './structured-output.ts'

/**
 * A call whose result is made of messages: one model call, or one run. It keeps the transforms that
 * middleware registers and lets every result through them, wherever it comes from: a source that
 * streams, a plain response, or a middleware that put its own in place.
 */
export abstract class ContentCall<Result extends ChatResponse> implements PipelineCall<Result> {
  readonly run: Run
  result: Result | undefined
  /** Generation counter; incremented on cancellation, so that late results are ignored. */
  generation = 0
  #metadata: Record<string, unknown> | undefined
  #transformers:
    | { readonly depth: number; readonly transformer: UpdateTransformer<AgentResponseUpdate> }[]
    | undefined
  /** Depth of the middleware that called `callNext()` last. */
  #entered = -1
  #pipeline: TransformPipeline<AgentResponseUpdate> | undefined
  /** True if content of an earlier pass has reached the caller. */
  #releasedBefore = false
  #settled: Result | undefined
  /** The pass that `#settled` came through. */
  #settledBy: TransformPipeline<AgentResponseUpdate> | undefined
  /** Results that settled earlier; they have passed the transforms too. */
  #earlier: Result[] | undefined
  #fault: { readonly error: unknown; readonly depth: number } | undefined

  readonly stream: boolean
  /** True if middleware, or the caller, may see the result. */
  protected isSeen = false

  constructor(run: Run) {
    this.run = run
    this.stream = run.sink.streaming
  }

  get metadata(): Record<string, unknown> {
    return (this.#metadata ??= {})
  }

  get released(): boolean {
    const pipeline = this.#pipeline
    if (pipeline === undefined || this.#releasedBefore) return this.#releasedBefore
    return pipeline.released && this.run.sink.delivered > pipeline.deliveredBefore
  }

  /** `name` is that of the middleware. */
  register(transformer: UpdateTransformer<AgentResponseUpdate>, depth: number, name: string): void {
    const problem =
      depth <= this.#entered
        ? 'called transformUpdates() after callNext(); register before'
        : isTransformer(transformer)
          ? undefined
          : 'called transformUpdates() without an object that has `start`, `transform` or `flush`'
    if (problem !== undefined) throw new MiddlewareContractError(name, problem)
    ;(this.#transformers ??= []).push({ depth, transformer })
  }

  enter(depth: number): void {
    this.#entered = depth
    this.isSeen = true
    this.result = undefined
    const kept = this.#transformers?.findLastIndex((entry) => entry.depth <= depth)
    if (kept !== undefined) this.#transformers!.length = kept + 1
  }

  fail(error: unknown, depth: number): void {
    if (this.#fault?.error !== error) this.#fault = { error, depth }
    // Transforms remove from the answer what the error still has.
    if (this.#transformers?.some((entry) => entry.depth >= depth)) withoutPartial(error)
  }

  /** Depth of the innermost middleware that threw `error`; 0 if none is known. */
  faultDepth(error: unknown): number {
    return this.#fault?.error === error ? this.#fault!.depth : 0
  }

  cancelInside(error: unknown): void {
    this.generation++
    this.run.sink.breakOff(error)
  }

  acceptResult(depth: number): void | Promise<void> {
    const applying = this.#applyAssigned(depth)
    return applying === undefined ? this.read() : applying.then(() => this.read())
  }

  /** Fills in the result's `value`, where a schema was asked for, for all who see the result. */
  read(): void | Promise<void> {
    const { format, generation, result } = this
    if (typeof format !== 'object' || result === undefined || result.value !== undefined)
      return undefined
    return this.run.unlessAborted(withValue(result, format)).then((read) => {
      if (read === result || generation !== this.generation) return
      if (this.isSeen) freezeResponse(read)
      this.result = this.#settled = read
    })
  }

  #applyAssigned(depth: number): void | Promise<void> {
    const { result } = this
    if (result === undefined || result === this.#settled) {
      return result === undefined || this.#isShown() ? undefined : this.applyTransforms(result, 0)
    }
    // Content that has passed the transforms does not pass them again.
    const { messages } = result
    const isSettled = messages === this.#settled?.messages
    if (isSettled && this.#isShown()) {
      // A verdict that the answer does not fit is one on its value.
      const isUnfit = result.metadata['schemaValid'] === false
      const judged = isUnfit ? withoutValueOf(this.#settled, result) : result
      this.settle(normalizeResponse(judged) as Result)
      return undefined
    }
    if (isSettled || this.#earlier?.some((earlier) => earlier.messages === messages)) {
      return this.applyTransforms(result, 0)
    }
    return this.applyTransforms(withoutLeftovers(result, this.#settled), depth)
  }

  /** Applies the transforms of the middleware outside `depth` to a plain result. */
  applyTransforms(result: Result, depth: number, signal?: AbortSignal): void | Promise<void> {
    const plain = this.withOwnIds(normalizeResponse(result) as Result)
    if (!this.stream && !this.hasTransformers(depth)) {
      this.settle(plain)
      return undefined
    }
    const { generation } = this
    const fold = new ResponseFold(this.run.ids)
    const pipeline = this.open(depth, fold)
    const driving = this.run.sink.drive(toUpdates(plain), pipeline)
    return this.run.unlessAborted(driving, signal).then(() => {
      if (generation === this.generation)
        this.settle(pipeline.changed ? this.refold(plain, fold) : plain)
    })
  }

  /** Gives the messages of a result new ids if the conversation has theirs, and an author. */
  protected withOwnIds(result: Result): Result {
    const { agentName, ids } = this.run
    const messages = withAuthor(withOwnIds(result.messages, this.takenIds, ids), agentName)
    return messages === result.messages ? result : { ...result, messages }
  }

  /** Format that the answer was asked for in. */
  protected abstract get format(): ResponseFormat | undefined

  /** Messages whose ids a result may not repeat. */
  protected abstract get takenIds(): readonly Message[]

  settle(result: Result): void {
    if (this.#settled !== undefined) (this.#earlier ??= []).push(this.#settled)
    if (this.isSeen) freezeResponse(result)
    this.result = this.#settled = result
    this.#settledBy = this.#pipeline
  }

  /** The result that a middleware assigned after the inside had settled, or in place of the inside. */
  get assigned(): Result | undefined {
    return this.result === this.#settled ? undefined : this.result
  }

  hasTransformers(depth: number): boolean {
    // The first one is that of the outermost middleware.
    const first = this.#transformers?.[0]
    return first !== undefined && first.depth < depth
  }

  /** Begins a pass through the transforms of the middleware outside `depth`. */
  open(
    depth: number,
    fold: ResponseFold | undefined,
    ...transformers: UpdateTransformer<AgentResponseUpdate>[]
  ): TransformPipeline<AgentResponseUpdate> {
    const registered = this.#transformers ?? []
    for (let index = registered.length - 1; index >= 0; index--) {
      if (registered[index]!.depth < depth) transformers.push(registered[index]!.transformer)
    }
    const pipeline = new TransformPipeline(transformers, fold, this.next)
    if (this.mustRestart) pipeline.restart = this.restartUpdate
    this.#releasedBefore = this.released
    this.#pipeline = pipeline
    return pipeline
  }

  /** True if the caller has updates that a new pass replaces. */
  protected get mustRestart(): boolean {
    const pipeline = this.#pipeline
    return (
      pipeline !== undefined &&
      (pipeline.released || (pipeline.restart !== undefined && !pipeline.started))
    )
  }

  /** True if the caller has the content of `#settled`, and no later pass has replaced it. */
  #isShown(): boolean {
    return this.#settledBy === this.#pipeline || !this.#pipeline!.started
  }

  /** The level further out, where there is one. */
  protected abstract get next(): TransformPipeline<AgentResponseUpdate> | undefined
  /** Update that tells a consumer to discard this call's updates. */
  protected abstract get restartUpdate(): AgentResponseUpdate
  /** `result` with the content that came through the transforms. */
  abstract refold(result: Result, fold: ResponseFold): Result
}

/** A view of a call whose result is made of messages. */
export abstract class ContentView<
  Result extends ChatResponse,
  Call extends ContentCall<Result>,
> extends CallView<Result, Call> {
  declare messages: readonly Message[]
  declare instructions: string | undefined
  declare options: ChatOptions

  get stream(): boolean {
    return this.call.stream
  }

  get released(): boolean {
    return this.call.released
  }

  transformUpdates(transformer: UpdateTransformer<AgentResponseUpdate>): void {
    this.call.register(transformer, this.depth, this.owner)
  }
}

defineInputs(ContentView, 'messages', 'instructions', 'options')

/** Freezes a response that others see: an edit in place would reach the response, and no reader of a stream. */
export function freezeResponse(response: ChatResponse): void {
  Object.freeze(response.messages)
  Object.freeze(response.functionCalls)
  Object.freeze(response)
}

function isTransformer(value: object): boolean {
  return ['start', 'transform', 'flush'].some(
    (name) => typeof (value as Record<string, unknown> | undefined)?.[name] === 'function',
  )
}

/** Removes `raw` and `value` of the replaced response from a result that a middleware assigned. */
function withoutLeftovers<Result extends ChatResponse>(
  result: Result,
  before: Result | undefined,
): Result {
  const { raw: _, ...kept } = withoutValueOf(before, result)
  return kept as Result
}

function withoutValueOf<Result extends ChatResponse>(
  before: Result | undefined,
  result: Result,
): Result {
  const { value, ...kept } = result
  return value === before?.value ? (kept as Result) : result
}
