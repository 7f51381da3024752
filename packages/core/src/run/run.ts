import { createId } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { unlessAborted } from '../base/promises.ts'
import type { ChatOptions, LoopState } from '../contract/chat-options.ts'
import type { ToolDefinition } from '../contract/run.ts'
import type { CallGate } from '../contract/approval.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'
import type {
  AgentResponse,
  AgentResponseUpdate,
  Attempt,
  Checkpoint,
  Decisions,
  Stop,
} from '../contract/outcome.ts'
import type { RunContext } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { RunState } from '../contract/state.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import type { ResponseFold } from '../messages/response-fold.ts'
import type { Usage } from '../messages/usage.ts'
import { addUsage } from '../messages/usage.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { UpdateSink } from '../stream/update-sink.ts'
import { NullSink } from '../stream/update-sink.ts'
import { RunConversation } from './conversation.ts'
import { Interrupts } from './interrupts.ts'
import { LiveTools } from './live-tools.ts'
import { RunRequests } from './requests.ts'
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
  /** True if the parent adds the usage itself, from the response. */
  readonly isGuest?: boolean | undefined
  readonly data?: unknown
  readonly tenant?: string | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  readonly control?: RunControl | undefined
  readonly checkpoint?: Checkpoint | undefined
  readonly answers?: Readonly<Record<string, unknown>> | undefined
}

/** Tools, tool choice and response format of a model call. */
interface Offer extends Pick<ChatOptions, 'toolChoice' | 'responseFormat'> {
  readonly visible: readonly ToolDefinition[]
  readonly tools: readonly ToolDefinition[]
}

/**
 * Engine side of one run; middlewares see a `RunContext`. Parts that few runs need are created on
 * first use.
 */
export class Run implements RunContext {
  readonly agentName: string | undefined
  session: Session | undefined
  readonly parent: RunContext | undefined
  readonly depth: number
  readonly data: unknown
  readonly tenant: string | undefined
  stateStore: KeyValueStore | undefined
  readonly sink: UpdateSink<AgentResponseUpdate>
  readonly checkpoint: Checkpoint | undefined
  iteration = 0
  /** Position of the running middlewares: around the run, or inside a model call or tool call. */
  place: string | number = 'run'
  usage: Usage
  /** True if a provider did not report the usage of a call. */
  usageEstimated = false
  attempts: readonly Attempt[] = noAttempts
  loopState: LoopState = notBegun
  /** Text that replaces a final answer made of tool calls that were dropped. */
  fallbackText: string | undefined
  /** The response that is being folded. */
  partial: ResponseFold | undefined
  /** Interceptors of iterations and tool batches, if there are any. */
  interceptors: RoundInterceptors | undefined
  /** Gates of tool calls, the parent's first. */
  callGates: readonly CallGate[] | undefined
  /** Iterations that middlewares have allowed beyond the limit. */
  moreIterations: number
  /** Number of verdicts that tool calls wait for, or that were negative. */
  verdictsOpen = 0
  /** Input of the run. */
  input: readonly Message[] = noMessages
  stopped: Stop | undefined
  /** True if the run stops because a transform of an agent middleware has ended its updates. */
  cutShort = false
  /** Finished work that middlewares around it may still interrupt with a pause. */
  lastModel: { readonly iteration: number; readonly response: ChatResponse } | undefined
  lastLoop: AgentResponse | undefined
  /** Groups of calls that a pause left open, with the decisions made so far. */
  held: Map<string, Decisions> | undefined
  /** Decisions about calls of earlier runs, used once. */
  decided: ReadonlyMap<string, Decisions> | undefined
  /** Id of the conversation that the provider stores. */
  conversationId: string | undefined
  /** Provider that the run began with. */
  keeper: string | undefined
  servedBy: string | undefined
  sent = 0
  /** Tools and tool choice of the last request. */
  offer: Offer | undefined
  toolResults: Map<string, FunctionResult> | undefined
  /** Work that finished before the run was resumed. Each entry is used once. */
  readonly finished: {
    model?: Checkpoint['model']
    loop?: Checkpoint['loop']
    readonly toolResults: Map<string, FunctionResult>
  }
  /** Sub-agents that are paused, by the call that runs them. */
  children: Readonly<Record<string, Checkpoint>>
  readonly #init: RunInit
  #id: string | undefined
  #controller: AbortController | undefined
  #messages: RunConversation | undefined
  #holds: Promise<unknown>[] | undefined
  #state: StateCells | undefined
  #requests: RunRequests | undefined
  #interrupts: Interrupts | undefined
  #unlink: (() => void) | undefined
  #saving: Promise<void> | undefined
  #tools: LiveTools | undefined
  #observers: Set<(event: RunEvent) => void> | undefined

  constructor(init: RunInit) {
    const { checkpoint, parent } = init
    this.#init = init
    this.#id = init.id ?? checkpoint?.runId
    this.agentName = init.agentName
    this.session = init.session
    this.parent = parent
    this.callGates = parent && engineOf(parent).callGates
    this.depth = parent === undefined ? 0 : parent.depth + 1
    this.data = init.data
    this.tenant = init.tenant ?? parent?.tenant
    this.sink = init.sink
    this.checkpoint = checkpoint
    this.usage = checkpoint?.usage ?? noUsage
    this.moreIterations = checkpoint?.moreIterations ?? 0
    this.children = checkpoint?.children ?? noChildren
    this.finished =
      checkpoint === undefined
        ? nothingFinished
        : {
            model: checkpoint.model,
            loop: checkpoint.loop,
            toolResults: new Map(checkpoint.toolResults),
          }
    if (checkpoint !== undefined) this.#restore(checkpoint)
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

  get messages(): RunConversation {
    return (this.#messages ??= new RunConversation())
  }

  get state(): RunState {
    return (this.#state ??= new StateCells(this))
  }

  get tools(): LiveTools {
    return (this.#tools ??= new LiveTools([]))
  }

  set tools(tools: LiveTools) {
    this.#tools = tools
  }

  /**
   * Returns the tool for a call of this iteration. Edits of the request's tools apply to its calls
   * too.
   */
  toolFor(name: string): ToolDefinition | undefined {
    const tool = this.tools.get(name)
    const { visible, tools: offered } = this.offer ?? noOffer
    if (offered === visible || (tool !== undefined && offered.includes(tool))) return tool
    const own = offered.find((entry) => entry.name === (tool?.name ?? name))
    return own ?? (tool !== undefined && visible.includes(tool) ? undefined : tool)
  }

  get interrupts(): Interrupts {
    return (this.#interrupts ??= new Interrupts(this.checkpoint, this.#init.answers))
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
  saveNext(take: (run: Run) => Checkpoint): Promise<void> {
    const before = this.#saving ?? Promise.resolve()
    this.#saving = before.then(() => this.#init.onCheckpoint?.(take(this)))
    return this.unlessAborted(this.#saving)
  }

  allowIterations(count: number): void {
    this.moreIterations += count
  }

  abort(reason: unknown): void {
    ;(this.#controller ??= new AbortController()).abort(reason)
  }

  /** Begins to listen to the caller's signal. */
  begin(): void {
    this.#init.control?.attach(this)
    const outer = this.#init.signal
    if (outer === undefined) return
    if (outer.aborted) {
      this.abort(outer.reason)
      return
    }
    const onAbort = (): void => this.abort(outer.reason)
    outer.addEventListener('abort', onAbort)
    this.#unlink = () => outer.removeEventListener('abort', onAbort)
  }

  /** Stops listening to the caller's signal. */
  release(): void {
    this.#init.control?.detach(this)
    this.#unlink?.()
  }

  /** Rejects as soon as `signal`, else the run, is aborted, whether or not `work` listens to that. */
  unlessAborted<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
    if (signal === undefined && !this.abortable) return work
    return unlessAborted(signal ?? this.signal, work)
  }

  recordAttempt(attempt: Omit<Attempt, 'iteration'>): void {
    this.attempts = [...this.attempts, { iteration: this.iteration, ...attempt }]
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
    verdict.then(
      () => this.verdictsOpen--,
      () => {},
    )
    ;(this.#holds ??= []).push(verdict)
  }

  /** Resolves when all verdicts that hold back tools have settled. */
  toolsAllowed(): Promise<unknown> | undefined {
    return this.#holds === undefined ? undefined : Promise.all(this.#holds)
  }

  stop(reason: string, { response }: Omit<Stop, 'reason'> = {}): void {
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

  #restore(checkpoint: Checkpoint): void {
    const { attempts, state, stopped, iteration, functionCalls, consecutiveErrors } = checkpoint
    this.attempts = attempts
    this.stopped = stopped
    this.loopState = { iteration, functionCalls, consecutiveErrors }
    if (Object.keys(state).length > 0) (this.#state = new StateCells(this)).restore(state)
  }
}

/** The engine's side of a run that came through a public context, possibly from another copy of core. */
export function engineOf(run: RunContext): Run {
  if ('sink' in run) return run as Run
  throw new TypeError('run: expected the `run` of a context, got another object')
}

const noTools: readonly ToolDefinition[] = Object.freeze([])
const noOffer: Offer = Object.freeze({ visible: noTools, tools: noTools })
const noChildren: Readonly<Record<string, Checkpoint>> = Object.freeze({})

const nothingFinished = Object.freeze({ toolResults: new Map<string, FunctionResult>() })

const notBegun: LoopState = Object.freeze({ iteration: 0, functionCalls: 0, consecutiveErrors: 0 })

const noUsage: Usage = Object.freeze({})
const noAttempts: readonly Attempt[] = Object.freeze([])
const noMessages: readonly Message[] = Object.freeze([])

type Observer = (event: RunEvent) => void

/** Adds an observer, even if it is already registered, and returns a function that removes it. */
function addObserver(observers: Set<Observer>, listener: Observer): () => void {
  const own: Observer = (event) => listener(event)
  observers.add(own)
  return () => observers.delete(own)
}

/**
 * Notifies the observers and the caller, which may be the parent run. Their errors are discarded.
 */
function tellAll(
  event: RunEvent,
  caller: Observer | undefined,
  observers: Iterable<Observer> = [],
): void {
  for (const observer of [...observers, caller]) {
    try {
      observer?.(event)
    } catch {}
  }
}

/** The sink of plain runs. */
export const drain: UpdateSink<AgentResponseUpdate> = new NullSink<AgentResponseUpdate>()
