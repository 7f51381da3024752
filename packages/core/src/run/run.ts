import { none } from '../base/none.ts'
import type { IdSource } from '../base/create-id.ts'
import { platformIds } from '../base/create-id.ts'
import { onAbort } from '../base/promises.ts'
import type { Clock } from '../base/timers.ts'
import { systemClock } from '../base/timers.ts'
import { unlessAborted } from '../base/waits.ts'
import type { Middleware } from '../contract/agent.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'
import type {
  AgentResponseUpdate,
  Attempt,
  Checkpoint,
  JournalStep,
  Stop,
} from '../contract/outcome.ts'
import type { CallGate, InputGate, RunContext, ToolDefinition } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { Block } from '../contract/termination.ts'
import type { RunState } from '../contract/state.ts'
import type { Message } from '../messages/message.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { ResponseFold } from '../messages/response-fold.ts'
import type { Usage } from '../messages/usage.ts'
import { addUsage } from '../messages/usage.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { TransformPipeline } from '../stream/transform-pipeline.ts'
import type { UpdateSink } from '../stream/update-sink.ts'
import { NullSink } from '../stream/update-sink.ts'
import type { CheckpointSigner } from './checkpoint-signer.ts'
import type { RunConversation } from './conversation.ts'
import { RunEvents } from './events.ts'
import { Interrupts } from './interrupts.ts'
import { Journal } from './journal.ts'
import { LiveTools } from './live-tools.ts'
import { LoopProgress } from './loop-progress.ts'
import type { RunControl } from './run-control.ts'
import { StateCells } from './state.ts'

/** Settings of a run by its caller. */
export interface RunCaller {
  readonly signal?: AbortSignal | undefined
  readonly parent?: RunContext | undefined
  readonly data?: unknown
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  readonly control?: RunControl | undefined
  readonly findTool?: ((name: string) => ToolDefinition | undefined) | undefined
}

/** Settings of a run. */
export interface RunInit extends RunCaller {
  readonly sink: UpdateSink<AgentResponseUpdate>
  /** Input of the run. @default none */
  readonly input?: readonly Message[] | undefined
  /** Text that replaces a final answer made of tool calls that were dropped. */
  readonly fallbackText?: string | undefined
  readonly id?: string | undefined
  readonly agentName?: string | undefined
  readonly session?: Session | undefined
  /** Middleware of the run. */
  readonly middlewares?: readonly Middleware[] | undefined
  /** True if the parent adds the usage itself, from the response. */
  readonly isGuest?: boolean | undefined
  readonly store?: KeyValueStore | undefined
  readonly storeTimeoutMs?: number | undefined
  readonly signer?: CheckpointSigner | undefined
  readonly clock?: Clock | undefined
  readonly random?: (() => number) | undefined
  readonly ids?: IdSource | undefined
}

/**
 * Engine side of one run; middleware sees a `RunContext`. Other rooms read its fields; what happens in them they
 * tell by its methods. Parts that few runs need are created on first use.
 */
export class Run implements RunContext {
  readonly agentName: string | undefined
  session: Session | undefined
  readonly parent: RunContext | undefined
  /** Middleware of the run: its sub-agents inherit some of them. */
  readonly middlewares: readonly Middleware[]
  readonly depth: number
  readonly data: unknown
  readonly tenant: string | undefined
  readonly principal: string | undefined
  readonly store: KeyValueStore | undefined
  readonly storeTimeoutMs: number | undefined
  readonly clock: Clock
  readonly random: () => number
  /** Makes the ids of the run's messages and requests. */
  readonly ids: IdSource
  readonly sink: UpdateSink<AgentResponseUpdate>
  /** Text that replaces a final answer made of tool calls that were dropped. */
  readonly fallbackText: string | undefined
  readonly control: RunControl | undefined
  /** True if the run can be aborted during a call. */
  abortable: boolean
  /** True if each step is kept as a checkpoint. */
  keepsSteps: boolean
  /** Finished steps of the run. */
  readonly journal: Journal
  readonly messages: RunConversation
  /** How far the run is. */
  readonly progress: LoopProgress
  usage: Usage = noUsage
  /** True if a provider did not report the usage of a call. */
  usageEstimated = false
  attempts: readonly Attempt[] = none
  /** Gathers what the caller has received of an unfinished response. */
  partial: ResponseFold | undefined
  /** Gates of tool calls, the outermost first. */
  callGates: readonly CallGate[] = none
  /** Iterations that middleware has allowed beyond the limit. */
  moreIterations = 0
  /** Number of verdicts that tool calls wait for, or that were negative. */
  verdictsOpen = 0
  /** Input of the run. */
  input: readonly Message[]
  stopped: Stop | undefined
  /** Key of the claims of this run, if it has any. Its sub-agents claim with the same one. */
  claimKey: string | undefined
  /** True if the run stops because a transform of an agent middleware has ended its updates. */
  updatesEnded = false
  readonly #init: RunInit
  readonly #caller: RunCaller
  #keepStep: RunCaller['onCheckpoint']
  /** Values that `perRun` has made. */
  kept: Map<object, object> | undefined
  #id: string | undefined
  #controller: AbortController | undefined
  #holds: Promise<unknown>[] | undefined
  #state: StateCells | undefined
  #events: RunEvents | undefined
  #interrupts: Interrupts | undefined
  #unlink: (() => void) | undefined
  #saving: Promise<void> | undefined
  #tools: LiveTools | undefined

  // A function that is written where it is assigned to a property becomes an old object in V8: what it refers
  // to, the whole run, would outlive minor collections.
  readonly #onRewrite = (): void => this.progress.noteEdit('run.messages.rewrite()')

  constructor(init: RunInit, caller: RunCaller = init) {
    const { parent, signal, control, onCheckpoint } = caller
    this.#init = init
    this.#caller = caller
    this.#id = init.id
    this.agentName = init.agentName
    this.session = init.session
    this.parent = parent
    this.middlewares = init.middlewares ?? (parent as Run | undefined)?.middlewares ?? none
    this.depth = parent === undefined ? 0 : parent.depth + 1
    this.data = caller.data
    this.tenant = caller.tenant ?? parent?.tenant
    this.principal = caller.principal ?? parent?.principal
    this.store = init.store ?? parent?.store
    this.storeTimeoutMs = init.storeTimeoutMs
    this.clock = init.clock ?? parent?.clock ?? systemClock
    this.random = init.random ?? parent?.random ?? Math.random
    this.ids = init.ids ?? (parent as Run | undefined)?.ids ?? platformIds
    this.sink = init.sink
    this.fallbackText = init.fallbackText
    this.control = control
    this.abortable = init.sink.streaming || (signal ?? control) !== undefined
    this.#keepStep = onCheckpoint
    this.keepsSteps = onCheckpoint !== undefined
    this.input = init.input ?? none
    this.journal = new Journal()
    this.messages = this.journal.messages
    this.progress = new LoopProgress(this.journal)
  }

  /** Makes a run of its own for a model call that a middleware of this one repeats. */
  forRepeatedCall(signal: AbortSignal | undefined): Run {
    const { agentName, session, data, tenant, principal, clock, random, ids } = this
    const own = { agentName, session, data, tenant, principal, clock, random, ids }
    const run = new Run({ ...own, sink: drain, signal })
    run.progress.repeat(this.progress)
    run.journal.loop = this.journal.loop
    return run
  }

  /** Restores the run from the steps of a checkpoint. */
  restore(steps: readonly JournalStep[]): void {
    this.journal.restore(steps)
    const state = this.journal.state!
    this.#id ??= state.runId
    this.usage = state.usage
    this.attempts = state.attempts
    this.moreIterations = state.moreIterations ?? this.journal.early?.moreIterations ?? 0
    this.stopped = state.stopped
    const { cells } = state
    if (Object.keys(cells).length > 0) (this.#state = new StateCells(this)).restore(cells)
  }

  /** Signs the checkpoints of the run. */
  get signer(): CheckpointSigner {
    return this.#init.signer!
  }

  get iteration(): number {
    return this.progress.iteration
  }

  get servedBy(): string | undefined {
    return this.progress.servedBy
  }

  get id(): string {
    return (this.#id ??= this.ids.createId('run'))
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  get aborted(): boolean {
    return this.#controller?.signal.aborted === true
  }

  throwIfAborted(): void {
    this.#controller?.signal.throwIfAborted()
  }

  get state(): RunState {
    return (this.#state ??= new StateCells(this))
  }

  get tools(): LiveTools {
    return this.#tools ?? this.useTools(new LiveTools([]))
  }

  /** Begins the run with these tools. */
  useTools(tools: LiveTools): LiveTools {
    this.#tools = tools
    tools.progress = this.progress
    return tools
  }

  /** Finds a tool that this run had added before a pause: by its caller, its middleware, or the run around it. */
  findTool(name: string): ToolDefinition | undefined {
    const found = [this.#caller, ...this.middlewares].map((each) => each.findTool?.(name))
    return found.find(Boolean) ?? (this.parent as Run | undefined)?.findTool(name)
  }

  /** The input has ids of its own. */
  acceptInput(input: readonly Message[]): void {
    this.input = input
    this.open(this.session, input)
  }

  /** The run continues a session with `input`, or neither, until its loop begins. */
  open(session: Session | undefined, input: readonly Message[]): void {
    this.session = session
    this.messages.open(session?.messages ?? none, input)
  }

  /** The run claims the requests that it answers, with this key. */
  claimWith(key: string): void {
    this.claimKey = key
  }

  /** Sends updates of the loop through the transforms of the agent middleware; `fold` gathers what leaves them. */
  transformWith(
    transforms: TransformPipeline<AgentResponseUpdate> | undefined,
    fold: ResponseFold | undefined,
  ): void {
    this.sink.outer = transforms
    this.partial = fold
  }

  /** Takes back what the inside of an agent middleware has produced. */
  withhold(block?: Block): void {
    this.transformWith(undefined, undefined)
    this.journal.withhold(block)
  }

  /**
   * The updates of a model call begin to arrive in `fold`, or have arrived. Where agent middleware transforms
   * them, only what came through its transforms may show.
   */
  gather(fold: ResponseFold | undefined): void {
    if (this.sink.outer === undefined) this.partial = fold
  }

  /** A transform of an agent middleware has ended the updates of the run. */
  endUpdates(): void {
    if (this.stopped !== undefined) return
    this.updatesEnded = true
    this.stop('')
  }

  /** Messages whose ids are taken: others may have said something in the session of a resumed run. */
  get known(): readonly Message[] {
    const { journal, messages, session } = this
    if (journal.state === undefined || session === undefined) return messages.all
    return [...messages.all, ...session.messages]
  }

  get interrupts(): Interrupts {
    return (this.#interrupts ??= new Interrupts(this.journal, this.ids))
  }

  /** Each step goes to `keep` first. Whoever lost it may abort the run. */
  keepSteps(keep: (checkpoint: Checkpoint) => Promise<void>): void {
    const { onCheckpoint } = this.#caller
    this.keepsSteps = this.abortable = true
    this.#keepStep = async (checkpoint) => {
      await keep(checkpoint)
      await onCheckpoint?.(checkpoint)
    }
  }

  /** Keeps checkpoints in order, each created when the previous one is saved. */
  saveNext(take: (run: Run) => Promise<Checkpoint>): Promise<void> | undefined {
    const keepStep = this.#keepStep
    if (keepStep === undefined) return undefined
    this.#saving = Promise.resolve(this.#saving).then(async () => keepStep(await take(this)))
    return this.unlessAborted(this.#saving)
  }

  gateCalls(gate: CallGate): void {
    this.callGates = [...this.callGates, gate]
  }

  gateInput(gate: InputGate): void {
    this.progress.gateInput(gate)
  }

  allowIterations(count: number): void {
    const { journal, progress } = this
    progress.noteEdit('run.allowIterations()')
    if (journal.mayEdit) this.moreIterations += count
  }

  abort(reason: unknown): void {
    ;(this.#controller ??= new AbortController()).abort(reason)
  }

  /** Begins to listen to the caller's signal. */
  begin(): void {
    this.control?.attach(this)
    const outer = this.#caller.signal
    if (outer !== undefined) this.#unlink = onAbort(outer, (reason) => this.abort(reason))
  }

  /** Stops listening to the caller's signal. */
  release(): void {
    this.progress.end()
    this.messages.onEdit = this.#onRewrite
    this.control?.detach(this)
    this.#unlink?.()
  }

  /** Rejects as soon as `signal`, else the run, is aborted, whether or not `work` listens to that. */
  unlessAborted<Value>(
    work: Promise<Value>,
    signal?: AbortSignal,
    graceMs?: number,
  ): Promise<Value> {
    if (signal === undefined && !this.abortable) return work
    return unlessAborted(signal ?? this.signal, work, graceMs)
  }

  recordAttempt(attempt: Omit<Attempt, 'iteration'>): void {
    this.attempts = Object.freeze([...this.attempts, { iteration: this.iteration, ...attempt }])
  }

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage)
    if (this.#init.isGuest !== true) this.parent?.addUsage(usage)
  }

  /** Adds the tokens of a model call that failed after a part of its response. */
  addUsageOfPart({ usage, messages }: ChatResponse): void {
    this.addUsage(usage)
    if (messages.length > 0 && usage.totalTokens === undefined) this.usageEstimated = true
  }

  get #eventsOf(): RunEvents {
    return (this.#events ??= new RunEvents(this, this.#caller))
  }

  emit(event: RunEventInit): void {
    this.#eventsOf.emit(event)
  }

  observe(listener: (event: RunEvent) => void): () => void {
    return this.#eventsOf.observe(listener)
  }

  request<Value>(request: RunRequestInit<Value>): Promise<Value> {
    return this.#eventsOf.request(request)
  }

  respond(id: string, value: unknown): boolean {
    return this.#events?.respond(id, value) ?? false
  }

  holdTools(verdict: Promise<unknown>): void {
    this.verdictsOpen++
    // One that rejects has been spoken, too: the run fails with it.
    verdict.then(() => this.verdictsOpen--).catch(() => {})
    ;(this.#holds ??= []).push(verdict)
  }

  /** Resolves when all verdicts that hold back tools have settled. */
  toolsAllowed(): Promise<unknown> | undefined {
    return this.#holds === undefined ? undefined : Promise.all(this.#holds)
  }

  stop(reason: string, { response }: Omit<Stop, 'reason'> = {}): void {
    this.progress.noteEdit('run.stop()')
    this.stopped ??= { reason, response }
  }

  interrupt<Value>(payload: unknown): Promise<Value> {
    return this.interrupts.ask(payload, this.progress.position) as Promise<Value>
  }

  stateSnapshot(): Record<string, unknown> {
    return this.#state?.snapshot() ?? {}
  }
}

/** The engine's side of a run that came through a public context, possibly from another copy of core. */
export function engineOf(run: RunContext): Run {
  if ('sink' in run) return run as Run
  throw new TypeError('run: expected the `run` of a context, got another object')
}

const noUsage: Usage = Object.freeze({})

/** The sink of plain runs. */
export const drain: UpdateSink<AgentResponseUpdate> = new NullSink<AgentResponseUpdate>()
