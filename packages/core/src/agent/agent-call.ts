import { none } from '../base/none.ts'
import type { Clock } from '../base/timers.ts'
import type { AgentContext, AgentInfo, MiddlewareInput } from '../contract/agent.ts'
import type { ChatOptions, ResponseFormat } from '../contract/chat-options.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type {
  AgentResponse,
  AgentResponseInit,
  AgentResponseUpdate,
  Checkpoint,
  RunToolsSnapshot,
} from '../contract/outcome.ts'
import type { ToolDefinition } from '../contract/run.ts'
import type { Block } from '../contract/termination.ts'
import type { Session, SessionSnapshot } from '../messages/session.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import type { OpenApprovals } from '../pausing/open-approvals.ts'
import type { CallModel } from '../pipeline/chat-call.ts'
import { defineInputs } from '../pipeline/compose.ts'
import { ContentCall, ContentView } from '../pipeline/content-call.ts'
import type { CallTool } from '../pipeline/function-call.ts'
import type { Middlewares } from '../pipeline/sort-middleware.ts'
import type { CheckpointSigner } from '../run/checkpoint-signer.ts'
import type { Run } from '../run/run.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { TransformPipeline } from '../stream/transform-pipeline.ts'
import type { RunOptions } from './agent-options.ts'

/** An agent, as its runs use it. */
export interface RunnableAgent extends AgentInfo {
  readonly middleware: MiddlewareInput
  readonly settings: LoopConfiguration
  readonly onBlock: 'return' | 'throw'
  readonly blockMessage: string
  readonly fallbackText: string
  readonly store: KeyValueStore | undefined
  readonly storeTimeoutMs: number | undefined
  readonly sign: CheckpointSigner
  readonly clock: Clock | undefined
  readonly random: (() => number) | undefined
  readonly composed: { last?: Pipelines }
  readonly approvals: OpenApprovals
}

/** Input and settings of a run. */
export interface RunPlan {
  readonly agent: RunnableAgent
  readonly messages: readonly Message[]
  readonly options: RunOptions & { readonly stream?: boolean | undefined }
  readonly config: LoopConfiguration
  readonly pipelines: Pipelines
  /** Checkpoint that the run continues from. */
  readonly checkpoint: Checkpoint | undefined
  /** Replaces the loop. */
  readonly inside?: ((view: AgentView) => Promise<AgentResponse>) | undefined
  /** Records the ending, before the session is saved. */
  readonly keep?: ((record: OnceRecord) => Promise<void>) | undefined
}

/** Record of the runs with one `idempotencyKey`: an ending, else their last step. */
export interface OnceRecord {
  readonly ending?: AgentResponse | undefined
  readonly step?: Checkpoint | undefined
  /** Session as the run with the ending left it, and ids of the messages that it had before. */
  readonly session?: Omit<SessionSnapshot, 'version'> | undefined
  readonly before?: readonly string[]
}

/** The middleware of all levels, composed. */
export interface Pipelines {
  readonly middlewares: Middlewares
  /** Store that was found to have what the middleware needs. */
  readonly store: KeyValueStore | undefined
  readonly runMiddlewares: (view: AgentView) => Promise<AgentResponse>
  readonly callModel: CallModel
  readonly callFunction: CallTool
}

/** Inputs of agent middleware. */
type AgentInputs = Pick<AgentContext, 'session' | 'messages' | 'instructions' | 'options' | 'tools'>

/** Inputs of the loop that agent middleware has changed. */
interface LoopEdits {
  readonly instructions?: string | undefined
  readonly options?: ChatOptions | undefined
}

/** One run, as the middleware around it shares it. */
export class AgentCall extends ContentCall<AgentResponse> {
  readonly plan: RunPlan
  /** Response format of the run, or the one that the innermost middleware requested. */
  responseFormat: ResponseFormat | undefined
  #loop:
    | { readonly transforms: TransformPipeline<AgentResponseUpdate>; readonly fold: ResponseFold }
    | undefined
  #isRunning = false
  /** Messages of the session when the conversation began. */
  history: readonly Message[] = none
  /** The pause that the loop has ended with. Nothing runs inside before it is answered. */
  paused: AgentResponse | undefined

  /** Inputs that the first middleware was given. */
  given: Omit<AgentInputs, 'session' | 'messages'> = notGiven
  /**
   * Tools that edits of the contexts have added and removed, reverted before the inner middleware
   * run again.
   */
  #edited:
    | { readonly added: readonly ToolDefinition[]; readonly removed: readonly ToolDefinition[] }
    | undefined

  constructor(run: Run, plan: RunPlan) {
    super(run)
    this.plan = plan
    this.isSeen = true
  }

  override enter(depth: number): void {
    super.enter(depth)
    this.run.progress.enter(depth + 1)
  }

  override acceptResult(depth: number): void | Promise<void> {
    this.run.messages.leave(depth)
    return super.acceptResult(depth)
  }

  override fail(error: unknown, depth: number): void {
    this.run.messages.leave(depth)
    super.fail(error, depth)
  }

  /** Lets edits of `context.tools` and `context.options.tools` act on the run's tools. */
  applyTools({ tools, options }: AgentInputs): void {
    const live = this.run.tools
    if (this.#edited !== undefined) {
      live.remove(...this.#edited.added)
      live.add(...this.#edited.removed)
      this.#edited = undefined
    }
    const given = this.given.tools
    // Options that were replaced without a word about tools leave them alone.
    const offered = options.tools ?? given
    if (tools === given && offered === given) return
    const added = [...tools, ...offered].filter((tool) => !given.includes(tool))
    const removed = given.filter((tool) => !tools.includes(tool) || !offered.includes(tool))
    live.remove(...removed)
    live.add(...added)
    this.#edited = { added, removed }
  }

  override get released(): boolean {
    return this.run.sink.delivered > 0
  }

  /** Starts the loop's updates through the transforms of all middleware. */
  begin(): void {
    const { run } = this
    this.#isRunning = true
    const isNeeded =
      this.stream &&
      (this.hasTransformers(Infinity) || this.mustRestart || this.plan.inside !== undefined)
    const fold = isNeeded ? new ResponseFold(run.ids) : undefined
    this.#loop = fold && { fold, transforms: this.open(Infinity, fold) }
    run.transformWith(this.#loop?.transforms, fold)
  }

  /** Messages that the caller's stream has of the inside so far. Undefined in a plain run. */
  get streamed(): readonly Message[] | undefined {
    return this.#loop?.fold.response().messages
  }

  /** True if the inside has given a response, which may have been discarded since. */
  get isOver(): boolean {
    return this.result !== undefined || (this.run.journal.entered && !this.#isRunning)
  }

  /** Accepts the outcome of the loop, for the middleware outside `depth`. */
  finishLoop(loop: Promise<AgentResponse>, depth: number): Promise<void> {
    return loop.then(
      (response) => {
        this.run.progress.leaveLoop(depth)
        if (response.status === 'paused') this.paused = response
        return this.completeLoop(response)
      },
      (error: unknown) => {
        this.run.progress.leaveLoop(depth)
        throw error
      },
    )
  }

  /** Accepts the loop's response. Async only if transforms must run. */
  completeLoop(response: AgentResponse): void | Promise<void> {
    const loop = this.#loop
    const wasStreamed = this.stream && this.#isRunning
    this.#isRunning = false
    if (!wasStreamed && (this.stream || this.hasTransformers(Infinity))) {
      return this.applyTransforms(response, Infinity)
    }
    if (loop === undefined) {
      this.settle(response)
      return undefined
    }
    const { transforms, fold } = loop
    return this.run.sink.drive([], transforms).then(() => {
      const { reason: _, ...rest } = response
      // In a plain run its updates end just the same, only later.
      const whole = this.run.updatesEnded ? { ...rest, status: 'completed' as const } : response
      this.settle(this.refold(whole, fold))
    })
  }

  override cancelInside(error: unknown): void {
    super.cancelInside(error)
    this.run.progress.cancelLoop(error)
  }

  /** Discards what the inside has produced. */
  withhold(block?: Block): void {
    this.#isRunning = false
    this.run.withhold(block)
  }

  protected override get mustRestart(): boolean {
    return super.mustRestart || this.run.sink.released
  }

  protected get restartUpdate(): AgentResponseUpdate {
    return runRestart
  }

  protected get next(): TransformPipeline<AgentResponseUpdate> | undefined {
    return undefined
  }

  get format(): ResponseFormat | undefined {
    return this.responseFormat ?? this.run.progress.responseFormat
  }

  protected get takenIds(): readonly Message[] {
    return this.run.journal.entered ? none : this.run.messages.all
  }

  refold(result: AgentResponse, fold: ResponseFold): AgentResponse {
    const { raw: _raw, value, ...kept } = result
    const { messages, text, functionCalls } = fold.response()
    const response = { ...kept, messages, text, functionCalls }
    return value !== undefined && text === result.text ? { ...response, value } : response
  }
}

const unchanged: LoopEdits = {}
const notGiven = { instructions: undefined, options: {}, tools: none }

/** Tells a consumer to discard the whole run so far. */
export const runRestart: AgentResponseUpdate = Object.freeze({
  contents: [],
  restart: true,
  scope: 'run',
})

export class AgentView extends ContentView<AgentResponse, AgentCall> implements AgentContext {
  /** Iterations beyond the limit that middleware further out has allowed. */
  declare allowed: number
  declare inputs: AgentInputs
  declare session: Session | undefined
  declare tools: readonly ToolDefinition[]

  derive(): this {
    const { call } = this
    const { early } = call.run.journal
    const depth = this.depth + 1
    const inputs = early?.depth === depth ? this.#recorded(early) : this.inputs
    const view = new AgentView(call, depth, inputs, this.ownSignal)
    view.allowed = call.run.moreIterations
    call.run.open(inputs.session, inputs.messages)
    return view as this
  }

  /** Inputs of the next middleware in, as they were when it paused the run before its loop. */
  #recorded(early: LoopEdits & { readonly tools: RunToolsSnapshot }): AgentInputs {
    const { call, changed, inputs } = this
    const { entered } = call.run.journal
    if (!entered) {
      call.run.tools.restore(early.tools, call.run)
      call.given = { ...call.given, tools: call.run.tools.visible }
    }
    const { tools } = call.given
    const { responseFormat } = inputs.options
    const edits = { ...inputs, ...early, ...(entered && changed) }
    const options = { ...edits.options, tools, responseFormat }
    const { instructions } = edits
    return { ...inputs, messages: call.run.input, instructions, options, tools }
  }

  /** If the run was paused before its loop, records what the middleware at `depth` had begun with, which paused it. */
  recordStart(depth: number): void {
    const { call, inner } = this
    const { begun, early, entered } = call.run.journal
    if (this.depth < depth) return inner?.recordStart(depth)
    if (entered || begun !== undefined || depth <= (early?.depth ?? 0)) return
    const found = new AgentView(call, depth, this.given)
    const { messages, session } = found
    call.applyTools(found)
    call.run.open(session, messages)
    const all = call.run.messages.startOf(depth)
    const ofInput = new Set(messages.map(({ id }) => id))
    const hasHistory = session !== undefined && session.messages.length > 0
    const first = hasHistory ? all.findIndex(({ id }) => ofInput.has(id)) : 0
    const at = first < 0 ? all.length : first
    if (hasHistory) session.messages = all.slice(0, at)
    const start = { ...found.changed, messages: all.slice(at), tools: call.run.tools.snapshot() }
    call.run.journal.record({ kind: 'early', depth, ...start, moreIterations: this.allowed })
  }

  get agent(): AgentInfo {
    return this.call.plan.agent
  }

  get resumed(): boolean {
    const { begun, early } = this.call.run.journal
    return begun !== undefined || this.depth < (early?.depth ?? 0)
  }

  /** Instructions and options, if middleware has changed them. */
  get changed(): LoopEdits {
    const { instructions, options } = this.inputs
    const { given } = this.call
    const isEdited = instructions !== given.instructions
    if (options === given.options) return isEdited ? { instructions } : unchanged
    const { tools: _tools, responseFormat: _format, ...recorded } = options
    return { ...(isEdited && { instructions }), options: recorded }
  }

  /** Takes over what middleware had changed. */
  repeat({ instructions = this.instructions, options }: LoopEdits): void {
    const { tools, responseFormat } = this.options
    this.instructions = instructions
    if (options !== undefined) this.options = { ...options, tools, responseFormat }
  }

  get result(): AgentResponse | undefined {
    return this.call.result
  }

  set result(value: AgentResponse | AgentResponseInit | string | undefined) {
    this.checkResult()
    this.call.result = value === undefined ? undefined : toAgentResponse(value, this.call.run)
  }
}

defineInputs(AgentView, 'session', 'tools')

/** Converts a value that a middleware assigned to a run's response. */
export function toAgentResponse(value: unknown, run: Run): AgentResponse {
  const response = toChatResponse(value, run.ids)
  if (response === value && 'runId' in response) return response as AgentResponse
  return { status: 'completed', runId: run.id, attempts: run.attempts, pending: [], ...response }
}
