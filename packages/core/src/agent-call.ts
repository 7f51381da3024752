import type { AgentContext } from './agent-context.ts'
import type { Agent } from './agent.ts'
import type { RunPlan } from './agent-run.ts'
import type { AgentResponse, AgentResponseInit, AgentResponseUpdate } from './agent-response.ts'
import { cutShort } from './call-client.ts'
import type { ChatOptions, ResponseFormat } from './chat-options.ts'
import { toUpdates } from './chat-response.ts'
import { ContentCall } from './content-call.ts'
import type { LayerContext } from './layered-call.ts'
import type { Message } from './message.ts'
import { ResponseFold } from './response-fold.ts'
import type { Run } from './run.ts'
import type { Session } from './session.ts'
import type { ToolDefinition } from './tool.ts'
import { toChatResponse } from './to-chat-response.ts'
import type { UpdatePassage } from './update-passage.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/** One run, as the layers around it share it. */
export class AgentCall extends ContentCall<AgentResponse> {
  readonly plan: RunPlan
  /** What the innermost layer asked for. */
  responseFormat: ResponseFormat | undefined
  #loop:
    | { readonly passage: UpdatePassage<AgentResponseUpdate>; readonly fold: ResponseFold }
    | undefined
  #isRunning = false

  constructor(run: Run, plan: RunPlan) {
    super(run, plan.pipelines.layers.agent)
    this.plan = plan
  }

  override get released(): boolean {
    return this.run.sink.delivered > 0
  }

  /** Called when the loop begins: what it brings forth goes through the transforms of all layers. */
  begin(): void {
    const { run } = this
    this.#isRunning = true
    const isNeeded = this.stream && (this.hasTransformers(Infinity) || this.mustRestart)
    const fold = isNeeded ? new ResponseFold() : undefined
    this.#loop = fold && { fold, passage: this.open(Infinity, fold) }
    run.sink.outer = this.#loop?.passage
    run.partial = fold
  }

  /** Takes in what the loop came to. A promise only where it has to pass transforms. */
  conclude(response: AgentResponse): void | Promise<void> {
    const loop = this.#loop
    const wasStreamed = this.stream && this.#isRunning
    this.#loop = undefined
    this.#isRunning = false
    if (!wasStreamed && (this.stream || this.hasTransformers(Infinity))) {
      return this.deliver(response, Infinity)
    }
    if (loop === undefined) {
      this.settle(response)
      return undefined
    }
    const { passage, fold } = loop
    return this.run.sink.drive([], passage).then(() => {
      const { reason, ...rest } = response
      // In a plain run its updates end just the same, only later.
      const whole = reason === cutShort ? { ...rest, status: 'completed' as const } : response
      this.settle(passage.changed ? this.refold(whole, fold) : whole)
    })
  }

  protected override get mustRestart(): boolean {
    return super.mustRestart || this.run.sink.released
  }

  protected get restartUpdate(): AgentResponseUpdate {
    return runRestart
  }

  protected get next(): UpdatePassage<AgentResponseUpdate> | undefined {
    return undefined
  }

  protected updatesOf(result: AgentResponse): Iterable<AgentResponseUpdate> {
    return toUpdates(result)
  }

  refold(result: AgentResponse, fold: ResponseFold): AgentResponse {
    const { raw: _raw, value: _value, ...kept } = result
    const { messages, text, functionCalls } = fold.response()
    return { ...kept, messages, text, functionCalls }
  }
}

/** Tells a consumer that the whole run begins anew. */
export const runRestart: AgentResponseUpdate = Object.freeze({
  contents: [],
  restart: true,
  scope: 'run',
})

/** The inputs of a run that its layers may edit. */
export interface AgentInput {
  readonly messages: readonly Message[]
  readonly session: Session | undefined
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly tools: readonly ToolDefinition[]
  /** What a layer has put in the place of the run's signal. */
  readonly ownSignal: AbortSignal | undefined
}

export class AgentView implements AgentContext, LayerContext<AgentResponse> {
  readonly call: AgentCall
  readonly agent: Agent
  readonly depth: number
  inside: Promise<AgentResponse> | undefined = undefined
  messages: readonly Message[]
  session: Session | undefined
  instructions: string | undefined
  options: ChatOptions
  tools: readonly ToolDefinition[]
  ownSignal: AbortSignal | undefined

  constructor(call: AgentCall, agent: Agent, depth: number, input: AgentInput) {
    this.call = call
    this.agent = agent
    this.depth = depth
    this.messages = input.messages
    this.session = input.session
    this.instructions = input.instructions
    this.options = input.options
    this.tools = input.tools
    this.ownSignal = input.ownSignal
  }

  derive(): this {
    return new AgentView(this.call, this.agent, this.depth + 1, this) as this
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

  get stream(): boolean {
    return this.call.stream
  }

  get released(): boolean {
    return this.call.released
  }

  get result(): AgentResponse | undefined {
    return this.call.result
  }

  set result(value: AgentResponse | AgentResponseInit | string | undefined) {
    this.call.result = value === undefined ? undefined : toAgentResponse(value, this.call.run)
  }

  transformUpdates(transformer: UpdateTransformer<AgentResponseUpdate>): void {
    this.call.register(transformer, this.depth)
  }
}

/** Accepts what a layer may put in place as the outcome of a run. */
export function toAgentResponse(value: unknown, run: Run): AgentResponse {
  const response = toChatResponse(value)
  if (response === value && 'runId' in response) return response as AgentResponse
  return { status: 'completed', runId: run.id, attempts: run.attempts, pending: [], ...response }
}
