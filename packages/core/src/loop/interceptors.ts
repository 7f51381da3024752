import { none } from '../base/none.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import { isPause, RunPaused } from '../contract/control-flow.ts'
import type {
  BatchContext,
  InterceptorMiddleware,
  IterationContext,
  LoopInterceptor,
} from '../contract/interceptors.ts'
import type { RunEnding } from '../contract/outcome.ts'
import type { RunContext } from '../contract/run.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import { callAddress } from '../messages/call-results.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import { errorResult, toFunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import type { BatchOutcome, Round, RoundEdits, RoundInterceptors } from '../run/round.ts'
import type { Run } from '../run/run.ts'
import { engineOf } from '../run/run.ts'

/**
 * Adds functions around the iterations and batches of a run, inside the existing ones. Call it in
 * an agent middleware, before its `callNext()`.
 * @throws MiddlewareContractError while the loop runs, and after the run
 */
export function interceptLoop(run: RunContext, interceptor: LoopInterceptor): void {
  const engine = engineOf(run)
  if (engine.phase === 'looping') {
    throw new MiddlewareContractError('', 'interceptLoop() was called while the loop runs')
  }
  engine.noteEdit('interceptLoop()')
  ;(engine.interceptors ??= new LoopInterceptors(engine)).add(interceptor)
}

/** The middlewares around the rounds of one run. Only runs that have some carry this code. */
class LoopInterceptors implements RoundInterceptors {
  readonly #run: Run
  readonly #interceptors: LoopInterceptor[] = []
  /** Depth of the agent middleware that has added each, in the same order. */
  readonly #depths: number[] = []
  #round: IterationView | undefined

  constructor(run: Run) {
    this.#run = run
  }

  add(interceptor: LoopInterceptor): void {
    this.#depths.push(this.#run.messages.depth)
    this.#interceptors.push(interceptor)
  }

  enter(depth: number): void {
    const kept = this.#depths.filter((own) => own < depth).length
    this.#depths.length = this.#interceptors.length = kept
  }

  /** One round of the loop. */
  round(
    round: Round,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    return this.#around(new IterationView(this.#run, false, round), core)
  }

  /** Runs the rest of an iteration that began before a pause. */
  resume(core: () => Promise<RunEnding | undefined>): Promise<RunEnding | undefined> {
    const round: Round = { options: {}, history: () => none }
    return this.#around(new IterationView(this.#run, true, round), core)
  }

  async #around(
    view: IterationView,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    this.#round = view
    let ending: RunEnding | undefined
    await this.#through('iteration', view, async () => {
      const edits = view.edits()
      view.isSent = true
      ending = await core(edits)
      if (ending?.status === 'paused') throw new RunPaused()
    }).catch((error: unknown) => {
      if (ending?.status !== 'paused' || !isPause(error)) throw error
    })
    return ending
  }

  /** Runs the response interceptors after the model's response is in the conversation. */
  async responded(response: ChatResponse): Promise<void> {
    const view = this.#round!
    view.respond(response)
    for (const { name, response: hook } of this.#interceptors.toReversed()) {
      view.owner = name
      await hook?.(view)
    }
  }

  /** The tool calls of one response. */
  async batch(
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    core: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome> {
    const run = this.#run
    const context = new BatchView(run, calls, parallel)
    const place = `tools ${callAddress(run.messages.all, calls[0]!)}`
    run.place = place
    let outcome = nothing
    try {
      await this.#through('batch', context, async () => {
        const { given } = context
        context.isSent = true
        outcome = given === undefined ? await core() : { ...nothing, results: given() }
        run.place = place
        context.finish(outcome.results)
        this.#round!.addResults(outcome.results)
      })
      return outcome
    } catch (error) {
      if (!isPause(error)) throw error
      return { ...outcome, results: [], interrupted: true }
    }
  }

  /** Nests middlewares around `core`, the first one outermost. */
  async #through(
    level: 'iteration' | 'batch',
    context: IterationView | BatchView,
    core: () => Promise<void>,
  ): Promise<void> {
    const enter = async (at: number): Promise<void> => {
      const interceptor = this.#interceptors[at]
      if (interceptor === undefined) return core()
      const { name } = interceptor
      const middleware = interceptor[level] as InterceptorMiddleware<typeof context> | undefined
      if (middleware === undefined) return enter(at + 1)
      let called = false
      context.owner = name
      await middleware(context, () => {
        if (called) {
          throw new MiddlewareContractError(name, `called next() of the ${level} twice`)
        }
        called = true
        return enter(at + 1).finally(() => (context.owner = name))
      })
      if (!called && this.#run.stopped === undefined) {
        throw new MiddlewareContractError(name, `left out next() of the ${level}`)
      }
    }
    await enter(0)
  }
}

/** A context whose inputs an interceptor may edit until the inside has begun. */
abstract class EditableView {
  readonly run: Run
  readonly iteration: number
  /** Name of the interceptor that runs. */
  owner = ''
  /** True once the inside has begun. */
  isSent: boolean

  constructor(run: Run, isSent: boolean) {
    this.run = run
    this.iteration = run.iteration
    this.isSent = isSent
  }

  /** @throws MiddlewareContractError once an edit cannot count any more */
  protected edited<Value>(name: string, value: Value): Value {
    if (!this.isSent) return value
    throw new MiddlewareContractError(
      this.owner,
      `assigned context.${name} too late, where it changes nothing`,
    )
  }
}

class IterationView extends EditableView implements IterationContext {
  readonly resumed: boolean
  readonly #round: Round
  #messages: readonly Message[] | undefined
  #instructions: string | undefined
  #options: ChatOptions
  #skip = false
  #override: IterationContext['overrideResponse']
  #response: ChatResponse | undefined
  #results: readonly FunctionResultContent[] = none

  constructor(run: Run, resumed: boolean, round: Round) {
    // The model call of a resumed iteration is done.
    super(run, resumed)
    this.resumed = resumed
    this.#instructions = round.instructions
    this.#options = round.options
    this.#round = round
  }

  get messages(): readonly Message[] {
    return this.#messages ?? this.#round.history()
  }

  set messages(messages: readonly Message[]) {
    this.#messages = this.edited('messages', messages)
  }

  get instructions(): string | undefined {
    return this.#instructions
  }

  set instructions(instructions: string | undefined) {
    this.#instructions = this.edited('instructions', instructions)
  }

  get options(): ChatOptions {
    return this.#options
  }

  set options(options: ChatOptions) {
    this.#options = this.edited('options', options)
  }

  get skipModelCall(): boolean {
    return this.#skip
  }

  set skipModelCall(skip: boolean) {
    this.#skip = this.edited('skipModelCall', skip)
  }

  get overrideResponse(): IterationContext['overrideResponse'] {
    return this.#override
  }

  set overrideResponse(response: IterationContext['overrideResponse']) {
    this.#override = this.edited('overrideResponse', response)
  }

  get response(): ChatResponse | undefined {
    return this.#response
  }

  respond(response: ChatResponse): void {
    this.#response = response
  }

  get toolResults(): readonly FunctionResultContent[] {
    return this.#results
  }

  addResults(results: readonly FunctionResultContent[]): void {
    this.#results = Object.freeze([...this.#results, ...results])
  }

  edits(): RoundEdits {
    const { instructions, options } = this
    const response = this.#skip ? toChatResponse(this.#override ?? '') : undefined
    return { messages: this.#messages, instructions, options, response }
  }
}

class BatchView extends EditableView implements BatchContext {
  readonly #calls: readonly FunctionCallContent[]
  readonly #parallel: boolean
  #skip = false
  #override: BatchContext['overrideResult']
  #results: readonly FunctionResultContent[] | undefined

  constructor(run: Run, calls: readonly FunctionCallContent[], parallel: boolean) {
    super(run, false)
    this.#calls = Object.freeze([...calls])
    this.#parallel = parallel
  }

  get calls(): readonly FunctionCallContent[] {
    return this.#calls
  }

  get parallel(): boolean {
    return this.#parallel
  }

  get skipToolExecution(): boolean {
    return this.#skip
  }

  set skipToolExecution(skip: boolean) {
    this.#skip = this.edited('skipToolExecution', skip)
  }

  get overrideResult(): BatchContext['overrideResult'] {
    return this.#override
  }

  set overrideResult(override: BatchContext['overrideResult']) {
    this.#override = this.edited('overrideResult', override)
  }

  get results(): readonly FunctionResultContent[] | undefined {
    return this.#results
  }

  finish(results: readonly FunctionResultContent[]): void {
    this.#results = Object.freeze(results)
  }

  /** Makes the results of calls that a middleware has skipped. Undefined if they are executed. */
  get given(): (() => FunctionResultContent[]) | undefined {
    const override = this.#override
    return this.#skip ? () => this.#calls.map((call) => skipped(call, override)) : undefined
  }
}

function skipped(
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
  direct: undefined,
}
