import { none } from '../base/none.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import { isPause, RunPaused } from '../contract/control-flow.ts'
import type { BatchContext, IterationContext, LoopInterceptor } from '../contract/interceptors.ts'
import type { RunEnding } from '../contract/outcome.ts'
import type { RunContext } from '../contract/run.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import { callAddress } from '../messages/call-results.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import { errorResult, toFunctionResult } from '../messages/function-result.ts'
import { checkAuthority } from '../messages/check-authority.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import type { PipelineCall } from '../pipeline/compose.ts'
import { compose, defineInputs, MiddlewareView } from '../pipeline/compose.ts'
import { freezeResponse } from '../pipeline/content-call.ts'
import { unheard, withOwnIds } from '../pipeline/own-ids.ts'
import type {
  BatchOutcome,
  IterationEdits,
  IterationInput,
  LoopLevels,
} from '../run/loop-levels.ts'
import type { Run } from '../run/run.ts'
import { engineOf } from '../run/run.ts'
import { addAll } from './transcript.ts'

/**
 * Adds middleware around the iterations and batches of a run, inside the existing one. Call it in
 * an agent middleware, before its `callNext()`.
 * @throws MiddlewareContractError while the loop runs, and after the run
 */
export function interceptLoop(run: RunContext, interceptor: LoopInterceptor): void {
  const engine = engineOf(run)
  engine.progress.intercept(() => new InterceptedLevels(engine)).add(interceptor)
}

class InterceptedLevels implements LoopLevels {
  readonly #run: Run
  /** Each with the depth of the agent middleware that has added it. */
  #added: readonly { readonly depth: number; readonly interceptor: LoopInterceptor }[] = none
  #iteration: IterationCall | undefined

  constructor(run: Run) {
    this.#run = run
  }

  add(interceptor: LoopInterceptor): void {
    this.#added = [...this.#added, { depth: this.#run.messages.depth, interceptor }]
  }

  enter(depth: number): void {
    this.#added = this.#added.filter((one) => one.depth < depth)
  }

  async iteration(
    input: IterationInput,
    work: (edits: IterationEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    const middlewares = this.#at('iteration')
    const call = (this.#iteration = new IterationCall(this.#run, middlewares, input))
    const run = compose<IterationView, Ended, Ended>(
      middlewares,
      async (view) => {
        call.begin()
        call.finish(await work(view.edits()))
      },
      (_, error) => call.pausedBy(error),
    )
    const { ending } = await run(new IterationView(call, 0, call.inputs))
    return call.continues && ending?.status === 'completed' ? undefined : ending
  }

  async responded(response: ChatResponse): Promise<void> {
    const call = this.#iteration!
    call.respond(response)
    for (const { interceptor } of this.#added.toReversed()) {
      await interceptor.response?.(call.viewOf(interceptor.name))
    }
  }

  async batch(
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    work: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome> {
    const run = this.#run
    const middlewares = this.#at('batch')
    const call = new BatchCall(run, middlewares, Object.freeze([...calls]), parallel)
    const position = `tools ${callAddress(run.messages.all, calls[0]!)}`
    run.progress.moveTo(position)
    const runMiddleware = compose<BatchView, BatchOutcome, BatchOutcome>(
      middlewares,
      async (view) => {
        const { skipped } = view
        call.finish(skipped === undefined ? await work() : { ...nothing, results: skipped })
        run.progress.moveTo(position)
        this.#iteration!.addResults(call.results!)
      },
      (_, error) => call.pausedBy(error),
    )
    return runMiddleware(new BatchView(call, 0, { skipToolExecution: false }))
  }

  #at(level: 'iteration' | 'batch'): readonly LevelMiddleware[] {
    return this.#added.flatMap(({ interceptor: { name, [level]: process } }) =>
      process === undefined ? [] : [{ name, process: process as never }],
    )
  }
}

interface LevelMiddleware {
  readonly name: string
  /** Gets the context of its level; nobody reads the result of its `next()`. */
  readonly process: never
}

/** An iteration or a batch, whose middleware calls `next()` exactly once. */
abstract class LoopCall<Result> implements PipelineCall<Result> {
  readonly run: Run
  readonly iteration: number
  result: Result | undefined
  readonly #middlewares: readonly LevelMiddleware[]
  readonly #level: string
  #entered = -1

  constructor(run: Run, middlewares: readonly LevelMiddleware[], level: string) {
    this.run = run
    this.iteration = run.iteration
    this.#middlewares = middlewares
    this.#level = level
  }

  enter(depth: number): void {
    if (depth <= this.#entered) throw this.#misuse(depth, 'called next() of the', ' twice')
    this.#entered = depth
  }

  /** A middleware that has stopped the run may leave out what is inside it. */
  acceptResult(depth: number): Promise<never> | undefined {
    if (this.result === undefined && this.run.stopped === undefined) {
      return Promise.reject(this.#misuse(depth, 'left out next() of the', ''))
    }
    this.result ??= this.leftOut
    return undefined
  }

  cancelInside(error: unknown): void {
    this.run.progress.cancelLoop(error)
  }

  /** Result of a call that a middleware has left out. */
  protected abstract get leftOut(): Result

  #misuse(depth: number, before: string, after: string): MiddlewareContractError {
    const { name } = this.#middlewares[depth]!
    return new MiddlewareContractError(name, `${before} ${this.#level}${after}`)
  }
}

/** The view of a middleware that may edit inputs until what is inside it has begun. */
abstract class LoopView<Result, Call extends LoopCall<Result>> extends MiddlewareView<
  Result,
  Call
> {
  get run(): Run {
    return this.call.run
  }

  get iteration(): number {
    return this.call.iteration
  }

  /** @throws MiddlewareContractError once an edit cannot count any more */
  override edit(name: string, value: unknown): void {
    if (this.isSent) {
      const problem = `assigned context.${name} too late, where it changes nothing`
      throw new MiddlewareContractError(this.owner, problem)
    }
    super.edit(name, value)
  }
}

interface Ended {
  readonly ending: RunEnding | undefined
}

class IterationCall extends LoopCall<Ended> {
  readonly resumed: boolean
  readonly history: () => readonly Message[]
  /** Inputs of the middleware that runs, or has run last. */
  inputs: object
  response: ChatResponse | undefined
  toolResults: readonly FunctionResultContent[] = none
  /** True if input was added behind what would be the end of the run. */
  continues = false
  /** True while calls may be open, where no message fits in. */
  #isBusy: boolean

  constructor(run: Run, middlewares: readonly LevelMiddleware[], input: IterationInput) {
    super(run, middlewares, 'iteration')
    const { resumed, history, instructions, options } = input
    this.resumed = this.#isBusy = resumed
    this.history = history
    this.inputs = { instructions, options, skipModelCall: false }
  }

  protected get leftOut(): Ended {
    return { ending: undefined }
  }

  respond(response: ChatResponse): void {
    freezeResponse(response)
    this.response = response
  }

  addResults(results: readonly FunctionResultContent[]): void {
    this.toolResults = Object.freeze([...this.toolResults, ...results])
  }

  begin(): void {
    this.#isBusy = true
  }

  /** @throws MiddlewareContractError where a message would come between a call and its result */
  async addInput(input: MessageInput, owner: string): Promise<readonly Message[]> {
    const { run } = this
    this.#checkBoundary(owner)
    const given = toMessages(input, 'user', run.ids)
    checkAuthority(given)
    const wrong = given.find(({ role }) => role !== 'user' && role !== 'system')
    if (wrong !== undefined) {
      const problem = `addInput() takes messages of a user or the system, got one of the role "${wrong.role}"`
      throw new MiddlewareContractError(owner, problem)
    }
    const { all } = run.messages
    const messages = await run.progress.judged(withOwnIds(unheard(given, all), all, run.ids))
    this.#checkBoundary(owner)
    if (messages.length === 0) return messages
    addAll(run, messages)
    this.continues = this.result !== undefined
    await saveStep(run)
    return messages
  }

  #checkBoundary(owner: string): void {
    const { status = 'completed' } = this.result?.ending ?? {}
    if (this.#isBusy || status !== 'completed')
      throw new MiddlewareContractError(owner, 'called addInput() where calls may be open')
  }

  /** @throws RunPaused if the run pauses in this iteration */
  finish(ending: RunEnding | undefined): void {
    this.#isBusy = false
    this.result = { ending }
    if (ending?.status === 'paused') throw new RunPaused()
  }

  pausedBy(error: unknown): Ended {
    if (this.result?.ending?.status !== 'paused' || !isPause(error)) throw error
    return this.result
  }

  /** The view of a response middleware, which can edit nothing. */
  viewOf(name: string): IterationView {
    const view = new IterationView(this, 0, this.inputs)
    view.owner = name
    view.isSent = true
    return view
  }
}

class IterationView extends LoopView<Ended, IterationCall> implements IterationContext {
  declare instructions: string | undefined
  declare options: ChatOptions
  declare skipModelCall: boolean
  declare overrideResponse: IterationContext['overrideResponse']

  constructor(call: IterationCall, depth: number, inputs: object) {
    super(call, depth, inputs)
    // The model call of a resumed iteration is done.
    this.isSent = call.resumed
  }

  derive(): this {
    return new IterationView(this.call, this.depth + 1, this.inputs) as this
  }

  get resumed(): boolean {
    return this.call.resumed
  }

  get messages(): readonly Message[] {
    return (this.inputs as IterationEdits).messages ?? this.call.history()
  }

  set messages(messages: readonly Message[]) {
    this.edit('messages', messages)
  }

  get response(): ChatResponse | undefined {
    return this.call.response
  }

  get toolResults(): readonly FunctionResultContent[] {
    return this.call.toolResults
  }

  get ending(): RunEnding | undefined {
    return this.call.continues ? undefined : this.call.result?.ending
  }

  async addInput(input: MessageInput): Promise<readonly Message[]> {
    const added = await this.call.addInput(input, this.owner)
    const { messages } = this.inputs as IterationEdits
    if (messages !== undefined && !this.isSent) this.edit('messages', [...messages, ...added])
    return added
  }

  /** The inputs as all middleware has left them. */
  edits(): IterationEdits {
    const { inputs, skipModelCall, overrideResponse } = this
    this.call.inputs = inputs
    return {
      ...inputs,
      response: skipModelCall ? toChatResponse(overrideResponse ?? '', this.run.ids) : undefined,
    }
  }
}

defineInputs(IterationView, 'instructions', 'options', 'skipModelCall', 'overrideResponse')

class BatchCall extends LoopCall<BatchOutcome> {
  readonly calls: readonly FunctionCallContent[]
  readonly parallel: boolean
  results: readonly FunctionResultContent[] | undefined

  constructor(
    run: Run,
    middlewares: readonly LevelMiddleware[],
    calls: readonly FunctionCallContent[],
    parallel: boolean,
  ) {
    super(run, middlewares, 'batch')
    this.calls = calls
    this.parallel = parallel
  }

  protected get leftOut(): BatchOutcome {
    return nothing
  }

  finish(outcome: BatchOutcome): void {
    this.result = outcome
    this.results = Object.freeze(outcome.results)
  }

  pausedBy(error: unknown): BatchOutcome {
    if (!isPause(error)) throw error
    return { ...(this.result ?? nothing), results: none, interrupted: true }
  }
}

class BatchView extends LoopView<BatchOutcome, BatchCall> implements BatchContext {
  declare skipToolExecution: boolean
  declare overrideResult: BatchContext['overrideResult']

  derive(): this {
    return new BatchView(this.call, this.depth + 1, this.inputs) as this
  }

  get calls(): readonly FunctionCallContent[] {
    return this.call.calls
  }

  get parallel(): boolean {
    return this.call.parallel
  }

  get results(): readonly FunctionResultContent[] | undefined {
    return this.call.results
  }

  /** Results of calls that a middleware has skipped. Undefined if they are executed. */
  get skipped(): readonly FunctionResultContent[] | undefined {
    const { calls, overrideResult } = this
    return this.skipToolExecution ? calls.map((call) => skip(call, overrideResult)) : undefined
  }
}

defineInputs(BatchView, 'skipToolExecution', 'overrideResult')

function skip(
  call: FunctionCallContent,
  override: BatchContext['overrideResult'],
): FunctionResultContent {
  const { callId, name } = call
  const { contents, error } =
    override === undefined
      ? errorResult('denied', 'a middleware has skipped the call')
      : toFunctionResult(override(call))
  return { type: 'function-result', callId, name, contents, ...(error && { error }) }
}

const nothing: BatchOutcome = {
  results: [],
  pending: [],
  executed: 0,
  failed: false,
  terminates: undefined,
  interrupted: false,
}
