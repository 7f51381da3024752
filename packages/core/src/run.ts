import type { AgentResponse, AgentResponseUpdate, Attempt } from './agent-response.ts'
import type { LoopState } from './chat-options.ts'
import type { ChatResponse } from './chat-response.ts'
import type { Checkpoint, Stop } from './checkpoint.ts'
import { takeStep } from './checkpoint.ts'
import { createId } from './create-id.ts'
import type { FunctionResult } from './function-result.ts'
import { Interrupts } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import type { ApprovalGate } from './approval-gates.ts'
import type { LoopSeams } from './loop-seams.ts'
import type { Message } from './message.ts'
import type { ResponseFold } from './response-fold.ts'
import type { RunContext } from './run-context.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from './run-events.ts'
import { addObserver, tellAll } from './run-observers.ts'
import type { RunControl } from './run-control.ts'
import { RunConversation } from './run-conversation.ts'
import type { RunInit } from './run-init.ts'
import { RunRequests } from './run-requests.ts'
import type { RunState } from './run-state.ts'
import { StateCells } from './run-state.ts'
import { LiveTools } from './run-tools.ts'
import type { Session } from './session.ts'
import type { KeyValueStore } from './store.ts'
import type { Decisions } from './tool-batch.ts'
import type { UpdateSink } from './update-sink.ts'
import { unlessAborted } from './unless-aborted.ts'
import type { Usage } from './usage.ts'
import { addUsage } from './usage.ts'

/** One run, as the engine sees it. Layers see it as a `RunContext`. What few runs need is made when it is needed. */
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
  /** Where layers are running: around the run, or inside of a model call or a tool call of it. */
  place: string | number = 'run'
  usage: Usage
  /** Whether a provider did not report what a call has cost. */
  usageEstimated = false
  attempts: readonly Attempt[] = noAttempts
  loopState: LoopState = notBegun
  /** Text for the model's last word when its calls were dropped and nothing else was left. */
  fallbackText: string | undefined
  /** The response that is being folded. */
  partial: ResponseFold | undefined
  /** Layers around rounds of the loop, if there are any. */
  seams: LoopSeams | undefined
  approvalGate: ApprovalGate | undefined
  /** Rounds that layers have allowed beyond the limit. */
  moreIterations: number
  /** Verdicts that tool calls wait for, and that are not there or were bad. */
  verdictsOpen = 0
  /** What the run was called with. */
  input: readonly Message[] = noMessages
  stopped: Stop | undefined
  /** What has finished while layers around it may still pause the run. */
  lastModel: { readonly iteration: number; readonly response: ChatResponse } | undefined
  lastLoop: AgentResponse | undefined
  /** Groups of calls that a pause left open, with what had been decided about them. */
  held: Map<string, Decisions> | undefined
  /** Decisions about calls of earlier runs, which are asked for once. */
  decided: ReadonlyMap<string, Decisions> | undefined
  /** The provider's name for a conversation it keeps, and how many of the messages it has seen. */
  conversationId: string | undefined
  /** The provider that the run began with, and the one that gave the last answer. */
  keeper: string | undefined
  servedBy: string | undefined
  sent = 0
  toolResults: Map<string, FunctionResult> | undefined
  /** What had finished before the run was resumed, each to be used once. */
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

  /** Before the loop has begun, what layers have added and changed. */
  get tools(): LiveTools {
    return (this.#tools ??= new LiveTools([]))
  }

  /** The first tools take over what layers have changed before. */
  set tools(tools: LiveTools) {
    if (!this.messages.begun && this.#tools !== undefined) tools.takeOver(this.#tools)
    this.#tools = tools
  }

  get interrupts(): Interrupts {
    return (this.#interrupts ??= new Interrupts(this.checkpoint, this.#init.answers))
  }

  /** Whether anybody could abort this run while it is in one call. */
  get abortable(): boolean {
    const { signal, control } = this.#init
    return this.sink.streaming || (signal ?? control) !== undefined
  }

  get control(): RunControl | undefined {
    return this.#init.control
  }

  /** Whether somebody wants a checkpoint of each step. */
  get keepsSteps(): boolean {
    return this.#init.onCheckpoint !== undefined
  }

  /** Hands out a checkpoint of where the run stands, one after another. */
  saveStep(): Promise<void> {
    const before = this.#saving ?? Promise.resolve()
    this.#saving = before.then(() => this.#init.onCheckpoint?.(takeStep(this)))
    return this.#saving
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

  /** Lets go of the caller's signal. */
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
    this.usage = this.usage === noUsage ? usage : addUsage(this.usage, usage)
    if (this.#init.isGuest !== true) this.parent?.addUsage(usage)
  }

  emit({ type, data }: RunEventInit): void {
    this.#send({ type, data, runId: this.id })
  }

  observe(listener: (event: RunEvent) => void): () => void {
    return addObserver((this.#observers ??= new Set()), listener)
  }

  request<Value>(request: RunRequestInit<Value>): Promise<Value> {
    const { onRequest } = this.#init
    if (!this.sink.streaming && onRequest === undefined) {
      const problem = `nobody can answer the request "${request.type}": stream the run, or pass \`onRequest\``
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

  /** Resolves when nothing holds the tools back any more. */
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

const noChildren: Readonly<Record<string, Checkpoint>> = Object.freeze({})
const nothingFinished = Object.freeze({ toolResults: new Map<string, FunctionResult>() })
const notBegun: LoopState = Object.freeze({ iteration: 0, functionCalls: 0, consecutiveErrors: 0 })
const noUsage: Usage = Object.freeze({})
const noAttempts: readonly Attempt[] = Object.freeze([])
const noMessages: readonly Message[] = Object.freeze([])
