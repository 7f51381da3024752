import type { ChatOptions } from '../contract/chat-options.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import { isPause } from '../contract/control-flow.ts'
import type {
  BatchContext,
  InterceptorMiddleware,
  IterationContext,
  LoopInterceptor,
} from '../contract/interceptors.ts'
import type { RunEnding } from '../contract/outcome.ts'
import type { RunContext } from '../contract/run.ts'
import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import { errorResult, toFunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import type { BatchOutcome, Round, RoundEdits, RoundInterceptors } from '../run/round.ts'
import type { Run } from '../run/run.ts'
import { engineOf } from '../run/run.ts'

/**
 * Puts middlewares around the rounds of a run, inside those that are there. For an agent middleware, before its
 * `callNext()`.
 */
export function interceptLoop(run: RunContext, interceptor: LoopInterceptor): void {
  const engine = engineOf(run)
  ;(engine.interceptors ??= new LoopInterceptors(engine)).add(interceptor)
}

/** The middlewares around the rounds of one run. Only runs that have some carry this code. */
class LoopInterceptors implements RoundInterceptors {
  readonly #run: Run
  readonly #interceptors: LoopInterceptor[] = []
  #round: IterationView | undefined

  constructor(run: Run) {
    this.#run = run
  }

  add(interceptor: LoopInterceptor): void {
    this.#interceptors.push(interceptor)
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
    const round: Round = { options: {}, history: () => noMessages }
    return this.#around(new IterationView(this.#run, true, round), core)
  }

  async #around(
    view: IterationView,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    this.#round = view
    let ending: RunEnding | undefined
    await this.#through('iteration', view, async () => {
      ending = await core(view.edits())
    })
    return ending
  }

  /** Runs the response interceptors after the model's response is in the conversation. */
  async responded(response: ChatResponse): Promise<void> {
    const view = this.#round
    if (view === undefined) return
    view.response = response
    for (const { response: hook } of this.#interceptors.toReversed()) await hook?.(view)
  }

  /** The tool calls of one response. */
  async batch(
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    core: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome> {
    const run = this.#run
    const context: Writable<BatchContext> = {
      run,
      iteration: run.iteration,
      calls,
      parallel,
      skipToolExecution: false,
      overrideResult: undefined,
      results: undefined,
    }
    const { place } = run
    // A question of a call itself is known by its id alone.
    const ownPlace = `tools ${calls[0]!.callId}`
    run.place = ownPlace
    let outcome = nothing
    try {
      await this.#through('batch', context, async () => {
        run.place = place
        outcome = context.skipToolExecution
          ? { ...nothing, results: skipped(context) }
          : await core()
        run.place = ownPlace
        context.results = outcome.results
        this.#round?.toolResults.push(...outcome.results)
      })
      return outcome
    } catch (error) {
      if (!isPause(error)) throw error
      return { ...outcome, results: [], interrupted: true }
    } finally {
      run.place = place
    }
  }

  /** Nests middlewares around `core`, the first one outermost. */
  async #through(
    seam: 'iteration' | 'batch',
    context: IterationContext | BatchContext,
    core: () => Promise<void>,
  ): Promise<void> {
    const enter = async (at: number): Promise<void> => {
      const interceptor = this.#interceptors[at]
      if (interceptor === undefined) return core()
      const middleware = interceptor[seam] as InterceptorMiddleware<typeof context> | undefined
      if (middleware === undefined) return enter(at + 1)
      let called = false
      await middleware(context, () => {
        if (called) {
          throw new MiddlewareContractError(
            interceptor.name,
            `called the next() of a ${seam} twice`,
          )
        }
        called = true
        return enter(at + 1)
      })
      if (!called && this.#run.stopped === undefined) {
        throw new MiddlewareContractError(interceptor.name, `left out the next() of a ${seam}`)
      }
    }
    await enter(0)
  }
}

class IterationView implements IterationContext {
  readonly run: Run
  readonly iteration: number
  readonly resumed: boolean
  readonly toolResults: FunctionResultContent[] = []
  instructions: string | undefined
  options: ChatOptions
  skipModelCall = false
  overrideResponse: ChatResponse | ChatResponseInit | string | undefined
  response: ChatResponse | undefined
  readonly #round: Round
  #messages: readonly Message[] | undefined

  constructor(run: Run, resumed: boolean, round: Round) {
    this.run = run
    this.iteration = run.iteration
    this.resumed = resumed
    this.instructions = round.instructions
    this.options = round.options
    this.#round = round
  }

  get messages(): readonly Message[] {
    return this.#messages ?? this.#round.history()
  }

  set messages(messages: readonly Message[]) {
    this.#messages = messages
  }

  edits(): RoundEdits {
    const { instructions, options, skipModelCall, overrideResponse = '' } = this
    const response = skipModelCall ? toChatResponse(overrideResponse) : undefined
    return { messages: this.#messages, instructions, options, response }
  }
}

/** The results of calls that a middleware has skipped. */
function skipped({ calls, overrideResult }: BatchContext): FunctionResultContent[] {
  return calls.map((call) => {
    const { callId, name } = call
    const { contents, error } =
      overrideResult === undefined
        ? errorResult('denied', 'a middleware has skipped the call')
        : toFunctionResult(overrideResult(call))
    return { type: 'function-result', callId, name, contents, ...(error && { error }) }
  })
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

const nothing: BatchOutcome = {
  results: [],
  pending: [],
  executed: 0,
  failed: false,
  terminates: undefined,
  interrupted: false,
  direct: undefined,
}

const noMessages: readonly Message[] = Object.freeze([])
