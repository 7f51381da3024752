import { none } from '../base/none.ts'
import { createId } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { onAbort, unlessAborted } from '../base/promises.ts'
import type { ChatOptions, LoopState } from '../contract/chat-options.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { Middleware } from '../contract/agent.ts'
import type { CallGate } from '../contract/approval.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'
import type {
  AgentResponseUpdate,
  Attempt,
  Checkpoint,
  JournalStep,
  PendingRequest,
  Stop,
} from '../contract/outcome.ts'
import type { RunContext, ToolDefinition } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { RunState } from '../contract/state.ts'
import type { Message } from '../messages/message.ts'
import type { ResponseFold } from '../messages/response-fold.ts'
import type { Usage } from '../messages/usage.ts'
import { addUsage } from '../messages/usage.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { UpdateSink } from '../stream/update-sink.ts'
import { NullSink } from '../stream/update-sink.ts'
import type { CheckpointSigner } from './checkpoint-signer.ts'
import type { RunConversation } from './conversation.ts'
import { Interrupts } from './interrupts.ts'
import { Journal } from './journal.ts'
import { LiveTools } from './live-tools.ts'
import { RunRequests } from './requests.ts'
import { addObserver, tellAll } from './observers.ts'
import type { RoundInterceptors } from './round.ts'
import type { RunControl } from './run-control.ts'
import { StateCells } from './state.ts'

/** Settings of a run. */
export interface RunInit {
  readonly sink: UpdateSink<AgentResponseUpdate>
  readonly id?: string | undefined
  readonly agentName?: string | undefined
  readonly session?: Session | undefined
  readonly signal?: AbortSignal | undefined
  readonly parent?: RunContext | undefined
  /** Middlewares of the run. */
  readonly middlewares?: readonly Middleware[] | undefined
  /** True if the parent adds the usage itself, from the response. */
  readonly isGuest?: boolean | undefined
  readonly data?: unknown
  readonly tenant?: string | undefined
  readonly store?: KeyValueStore | undefined
  readonly storeTimeoutMs?: number | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  readonly control?: RunControl | undefined
  readonly signer?: CheckpointSigner | undefined
}

/** Tools, tool choice and response format of a model call. */
interface Offer extends Pick<ChatOptions, 'toolChoice' | 'responseFormat'> {
  /** Tools of the run when the request was made. */
  readonly visible: readonly ToolDefinition[]
  /** Tools of the request. */
  readonly tools: readonly ToolDefinition[]
}

/** An edit after the loop, which counts only if the loop runs again. */
export interface LateEdit {
  readonly what: string
  /** Depth of the agent middleware. */
  readonly depth: number
}

/**
 * Engine side of one run; middlewares see a `RunContext`. Parts that few runs need are created on
 * first use.
 */
export class Run implements RunContext {
  readonly agentName: string | undefined
  session: Session | undefined
  readonly parent: RunContext | undefined
  /** Middlewares of the run: its sub-agents inherit some of them. */
  readonly middlewares: readonly Middleware[]
  readonly depth: number
  readonly data: unknown
  readonly tenant: string | undefined
  readonly store: KeyValueStore | undefined
  readonly storeTimeoutMs: number | undefined
  readonly sink: UpdateSink<AgentResponseUpdate>
  iteration = 0
  /** Position of the running middlewares: around the run, or inside a model call or tool call. */
  place: string | number = 'run'
  usage: Usage = noUsage
  /** True if a provider did not report the usage of a call. */
  usageEstimated = false
  attempts: readonly Attempt[] = none
  /** Text that replaces a final answer made of tool calls that were dropped. */
  fallbackText: string | undefined
  /** The response that is being folded. */
  partial: ResponseFold | undefined
  /** Interceptors of iterations and tool batches, if there are any. */
  interceptors: RoundInterceptors | undefined
  /** Gates of tool calls, the outermost first. */
  callGates: readonly CallGate[] = []
  /** Iterations that middlewares have allowed beyond the limit. */
  moreIterations = 0
  /** Number of verdicts that tool calls wait for, or that were negative. */
  verdictsOpen = 0
  /** Messages of the session when the conversation began. */
  history: readonly Message[] = none
  /** Input of the run. */
  input: readonly Message[] = none
  stopped: Stop | undefined
  /** Requests for which the loop has paused. */
  pending: readonly PendingRequest[] = none
  /** Key of the claims of this run, if it has any. Its sub-agents claim with the same one. */
  claimKey: string | undefined
  /** True if the run stops because a transform of an agent middleware has ended its updates. */
  cutShort = false
  /** `early` until the loop begins, `looped` once it has ended, `over` once the run has. */
  phase: 'early' | 'looping' | 'looped' | 'over' = 'early'
  /** The first edit since the loop ended. */
  lateEdit: LateEdit | undefined
  servedBy: string | undefined
  /** Tools and tool choice of the last request. */
  offer: Offer | undefined
  readonly #init: RunInit
  /** The model call whose request is open. */
  asking: { cancelInside(error: unknown): void } | undefined
  /** How often an agent middleware has failed while the loop inside it was running. */
  givenUp = 0
  /** Values that `perRun` has made. */
  kept: Map<object, object> | undefined
  #id: string | undefined
  #controller: AbortController | undefined
  #journal: Journal | undefined
  #holds: Promise<unknown>[] | undefined
  #state: StateCells | undefined
  #requests: RunRequests | undefined
  #interrupts: Interrupts | undefined
  #unlink: (() => void) | undefined
  #saving: Promise<void> | undefined
  #tools: LiveTools | undefined
  #observers: Set<(event: RunEvent) => void> | undefined

  // A function that is written where it is assigned to a property becomes an old object in V8: what it refers
  // to, the whole run, would outlive minor collections.
  readonly #onToolEdit = (what: string): void => this.noteEdit(`run.tools.${what}()`)
  readonly #onRewrite = (): void => this.noteEdit('run.messages.rewrite()')

  constructor(init: RunInit) {
    const { parent } = init
    this.#init = init
    this.#id = init.id
    this.agentName = init.agentName
    this.session = init.session
    this.parent = parent
    this.middlewares = init.middlewares ?? (parent as Run | undefined)?.middlewares ?? []
    this.depth = parent === undefined ? 0 : parent.depth + 1
    this.data = init.data
    this.tenant = init.tenant ?? parent?.tenant
    this.store = init.store ?? parent?.store
    this.storeTimeoutMs = init.storeTimeoutMs
    this.sink = init.sink
  }

  /** Restores the run from the steps of a checkpoint. */
  restore(steps: readonly JournalStep[]): void {
    const state = (this.#journal = new Journal(steps)).state!
    this.#id ??= state.runId
    this.usage = state.usage
    this.attempts = state.attempts
    this.moreIterations = state.moreIterations ?? 0
    this.stopped = state.stopped
    const { cells } = state
    if (Object.keys(cells).length > 0) (this.#state = new StateCells(this)).restore(cells)
  }

  /** Signs the checkpoints of the run. */
  get signer(): CheckpointSigner {
    return this.#init.signer!
  }

  get id(): string {
    return (this.#id ??= createId('run'))
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

  /** Finished steps of the run. */
  get journal(): Journal {
    return (this.#journal ??= new Journal())
  }

  get messages(): RunConversation {
    return this.journal.messages
  }

  get loopState(): LoopState {
    return this.journal.loop
  }

  get state(): RunState {
    return (this.#state ??= new StateCells(this))
  }

  get tools(): LiveTools {
    if (this.#tools === undefined) this.#useTools(new LiveTools([]))
    return this.#tools!
  }

  set tools(tools: LiveTools) {
    this.#useTools(tools)
  }

  #useTools(tools: LiveTools): void {
    this.#tools = tools
    tools.onEdit = this.#onToolEdit
  }

  /**
   * Notes an edit of what the loop works with.
   * @throws MiddlewareContractError if the run has ended
   */
  noteEdit(what: string): void {
    if (this.phase === 'early' || this.phase === 'looping') return
    if (this.phase === 'over') {
      throw new MiddlewareContractError('', `${what} was called after the run had ended`)
    }
    this.lateEdit ??= { what, depth: this.messages.depth }
  }

  /**
   * Returns the tool for a call of this iteration. Edits of the request's tools apply to its calls
   * too.
   */
  toolFor(name: string): ToolDefinition | undefined {
    const tool = this.tools.get(name)
    const { visible, tools: offered } = this.offer ?? noOffer
    if (offered === visible || (tool !== undefined && offered.includes(tool))) return tool
    const wanted = tool?.name ?? name
    const own = offered.find((entry) => entry.name === wanted && !visible.includes(entry))
    return own ?? (tool !== undefined && visible.includes(tool) ? undefined : tool)
  }

  get interrupts(): Interrupts {
    return (this.#interrupts ??= new Interrupts(this.journal))
  }

  /** True if the run can be aborted during a call. */
  get abortable(): boolean {
    const { signal, control } = this.#init
    return this.sink.streaming || (signal ?? control) !== undefined
  }

  get control(): RunControl | undefined {
    return this.#init.control
  }

  /** True if the caller requested a checkpoint after each step. */
  get keepsSteps(): boolean {
    return this.#init.onCheckpoint !== undefined
  }

  /** Passes checkpoints to `onCheckpoint` in order, each created when the previous one is saved. */
  saveNext(take: (run: Run) => Promise<Checkpoint>): Promise<void> | undefined {
    const { onCheckpoint } = this.#init
    if (onCheckpoint === undefined) return undefined
    this.#saving = Promise.resolve(this.#saving).then(async () => onCheckpoint(await take(this)))
    return this.unlessAborted(this.#saving)
  }

  allowIterations(count: number): void {
    this.noteEdit('run.allowIterations()')
    this.moreIterations += count
  }

  abort(reason: unknown): void {
    ;(this.#controller ??= new AbortController()).abort(reason)
  }

  /** Begins to listen to the caller's signal. */
  begin(): void {
    this.#init.control?.attach(this)
    const outer = this.#init.signal
    if (outer !== undefined) this.#unlink = onAbort(outer, (reason) => this.abort(reason))
  }

  /** Stops listening to the caller's signal. */
  release(): void {
    this.phase = 'over'
    this.messages.onEdit = this.#onRewrite
    this.#init.control?.detach(this)
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

  emit({ type, data, public: isPublic }: RunEventInit): void {
    this.#send({ type, data, runId: this.id, ...(isPublic === true && { public: true }) })
  }

  observe(listener: (event: RunEvent) => void): () => void {
    return addObserver((this.#observers ??= new Set()), listener)
  }

  request<Value>(request: RunRequestInit<Value>): Promise<Value> {
    const { onRequest } = this.#init
    if (!this.sink.streaming && onRequest === undefined) {
      const problem = `no handler for the request "${request.type}": stream the run, or pass \`onRequest\``
      return Promise.reject(new LamellaError(problem, { code: 'run_failed' }))
    }
    const send = (event: RunEvent): void => this.#send(event)
    this.#requests ??= new RunRequests()
    return this.#requests.ask(request, { runId: this.id, signal: this.signal, send, onRequest })
  }

  respond(id: string, value: unknown): boolean {
    return this.#requests?.respond(id, value) ?? false
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
    this.noteEdit('run.stop()')
    this.stopped ??= { reason, response }
  }

  interrupt<Value>(payload: unknown): Promise<Value> {
    return this.interrupts.ask(payload, this.place) as Promise<Value>
  }

  stateSnapshot(): Record<string, unknown> {
    return this.#state?.snapshot() ?? {}
  }

  #send(event: RunEvent): void {
    this.sink.push({ contents: [], event })
    tellAll(event, this.#init.onEvent, this.#observers)
  }
}

/** The engine's side of a run that came through a public context, possibly from another copy of core. */
export function engineOf(run: RunContext): Run {
  if ('sink' in run) return run as Run
  throw new TypeError('run: expected the `run` of a context, got another object')
}

const noOffer: Offer = Object.freeze({ visible: none, tools: none })
const noUsage: Usage = Object.freeze({})

/** The sink of plain runs. */
export const drain: UpdateSink<AgentResponseUpdate> = new NullSink<AgentResponseUpdate>()
