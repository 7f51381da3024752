import type { ChatOptions } from '../contract/chat-options.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import type { Run } from '../run/run.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import type { PipelineCall } from './compose.ts'
import { MiddlewareView } from './compose.ts'
import type { ContentCall } from './content-call.ts'

/** A call of any level, as its views read it. */
interface LevelCall<Result> extends PipelineCall<Result> {
  readonly run: Run
  readonly metadata: Record<string, unknown>
}

/** The part of a view that all three levels share. */
export abstract class CallView<
  Result,
  Call extends LevelCall<Result>,
> extends MiddlewareView<Result> {
  readonly call: Call
  /** Overrides the run's signal. */
  ownSignal: AbortSignal | undefined

  constructor(call: Call, depth: number, ownSignal: AbortSignal | undefined) {
    super(depth)
    this.call = call
    this.ownSignal = ownSignal
  }

  get signal(): AbortSignal {
    return this.ownSignal ?? this.call.run.signal
  }

  set signal(signal: AbortSignal) {
    this.ownSignal = signal
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }
}

/** Inputs that model calls and runs have in common. */
interface ContentInput {
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  readonly options: ChatOptions
}

/** A view of a call whose result is made of messages: one model call, or one run. */
export abstract class ContentView<
  Result extends ChatResponse,
  Call extends ContentCall<Result>,
> extends CallView<Result, Call> {
  readonly #given: ContentInput
  #messages: readonly Message[]
  #instructions: string | undefined
  #options: ChatOptions

  constructor(call: Call, depth: number, input: ContentInput, ownSignal: AbortSignal | undefined) {
    super(call, depth, ownSignal)
    this.#given = input
    this.#messages = input.messages
    this.#instructions = input.instructions
    this.#options = input.options
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  set messages(messages: readonly Message[]) {
    this.#messages = this.edited('messages', messages, this.#messages, this.#given.messages)
  }

  get instructions(): string | undefined {
    return this.#instructions
  }

  set instructions(text: string | undefined) {
    const { instructions } = this.#given
    this.#instructions = this.edited('instructions', text, this.#instructions, instructions)
  }

  get options(): ChatOptions {
    return this.#options
  }

  set options(options: ChatOptions) {
    this.#options = this.edited('options', options, this.#options, this.#given.options)
  }

  get stream(): boolean {
    return this.call.stream
  }

  get released(): boolean {
    return this.call.released
  }

  transformUpdates(transformer: UpdateTransformer<AgentResponseUpdate>): void {
    this.call.register(transformer, this.depth)
  }
}
