import { toChatResponse } from './to-chat-response.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatResponse, ChatResponseInit } from './chat-response.ts'
import type { FunctionCallContent, FunctionResultContent } from './content.ts'
import { MiddlewareContractError } from './contract-error.ts'
import { errorResult, toFunctionResult } from './function-result.ts'
import { isPause } from './interrupts.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { RunContext } from './run-context.ts'
import type { RunEnding } from './run-ending.ts'
import type { BatchOutcome } from './tool-batch.ts'

/** One round of the loop: a model call, and the tool calls that it asked for. */
export interface IterationContext {
  readonly run: RunContext
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** The round began before a pause: its model call is over, and calls that were open run now. */
  readonly resumed: boolean
  /** What the model is sent in this round. `run.messages.rewrite` changes it for good. */
  messages: readonly Message[]
  instructions: string | undefined
  options: ChatOptions
  /** Set before `next()`: the model is not called, and `overrideResponse` stands for its answer. */
  skipModelCall: boolean
  /** Calls in it are executed. @default an empty answer */
  overrideResponse: ChatResponse | ChatResponseInit | string | undefined
  /** The model's answer, once there is one. */
  readonly response: ChatResponse | undefined
  /** What the tool calls of this round came to, so far. */
  readonly toolResults: readonly FunctionResultContent[]
}

/** The tool calls of one model response, before and after they run. */
export interface BatchContext {
  readonly run: RunContext
  readonly iteration: number
  readonly calls: readonly FunctionCallContent[]
  /** Whether calls run side by side: there are two or more, and `maxConcurrency` allows it. */
  readonly parallel: boolean
  /** Set before `next()`: no call runs, and each gets what `overrideResult` says. */
  skipToolExecution: boolean
  /** As if a tool had returned it. @default the result of a denied call */
  overrideResult: ((call: FunctionCallContent) => unknown) | undefined
  /** In call order; calls that wait for somebody have none. */
  readonly results: readonly FunctionResultContent[] | undefined
}

/** A layer around one of the loop's inner seams. */
export type SeamLayer<Context> = (context: Context, next: () => Promise<void>) => Promise<void>

/** What an agent layer may put around the rounds of its run, with `run.intercept`. */
export interface LoopInterceptor {
  /** For messages of errors. */
  readonly name: string
  /** Around each round. It may not pause the run once the round is over. */
  readonly iteration?: SeamLayer<IterationContext> | undefined
  /** After each model call of the loop, when its answer stands in the conversation. */
  readonly response?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Around the tool calls of one response. */
  readonly batch?: SeamLayer<BatchContext> | undefined
}

/** What of a round its layers may edit before the model is called. */
export interface RoundEdits {
  readonly messages?: readonly Message[] | undefined
  readonly instructions?: string | undefined
  readonly options?: ChatOptions | undefined
  readonly response?: ChatResponse | undefined
}

interface Round extends RoundEdits {
  readonly options: ChatOptions
  /** What the model is sent unless a layer has put something else in place. */
  readonly history: () => readonly Message[]
}

/**
 * Puts layers around the rounds of a run, inside those that are there. For an agent layer, before its
 * `callNext()`.
 */
export function interceptLoop(run: RunContext, interceptor: LoopInterceptor): void {
  ;((run as Run).seams ??= new LoopSeams()).add(interceptor)
}

/** The layers around the rounds of one run. Only runs that have some carry this code. */
export class LoopSeams {
  readonly #interceptors: LoopInterceptor[] = []
  #round: IterationView | undefined

  add(interceptor: LoopInterceptor): void {
    this.#interceptors.push(interceptor)
  }

  /** One round of the loop. */
  round(
    run: Run,
    round: Round,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    return this.#around(run, new IterationView(run, false, round), core)
  }

  /** What is left of a round that began before a pause. */
  resume(run: Run, core: () => Promise<RunEnding | undefined>): Promise<RunEnding | undefined> {
    const round: Round = { options: {}, history: () => noMessages }
    return this.#around(run, new IterationView(run, true, round), core)
  }

  async #around(
    run: Run,
    view: IterationView,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined> {
    this.#round = view
    let ending: RunEnding | undefined
    await this.#through('iteration', view, run, async () => {
      ending = await core(view.edits())
    })
    return ending
  }

  /** The model's answer stands in the conversation. */
  async responded(response: ChatResponse): Promise<void> {
    const view = this.#round
    if (view === undefined) return
    view.response = response
    for (const { response: hook } of this.#interceptors.toReversed()) await hook?.(view)
  }

  /** The tool calls of one response. */
  async batch(
    run: Run,
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    core: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome> {
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
      await this.#through('batch', context, run, async () => {
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

  /** Nests layers around `core`, the first one outermost. */
  async #through(
    seam: 'iteration' | 'batch',
    context: IterationContext | BatchContext,
    run: Run,
    core: () => Promise<void>,
  ): Promise<void> {
    const enter = async (at: number): Promise<void> => {
      const interceptor = this.#interceptors[at]
      if (interceptor === undefined) return core()
      const layer = interceptor[seam] as SeamLayer<typeof context> | undefined
      if (layer === undefined) return enter(at + 1)
      let called = false
      await layer(context, () => {
        if (called) {
          throw new MiddlewareContractError(
            interceptor.name,
            `called the next() of a ${seam} twice`,
          )
        }
        called = true
        return enter(at + 1)
      })
      if (!called && run.stopped === undefined) {
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

/** The results of calls that a layer has skipped. */
function skipped({ calls, overrideResult }: BatchContext): FunctionResultContent[] {
  return calls.map((call) => {
    const { callId, name } = call
    const { contents, error } =
      overrideResult === undefined
        ? errorResult('denied', 'a layer has skipped the call')
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
