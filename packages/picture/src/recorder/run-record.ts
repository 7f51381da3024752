import type { AgentResponse, ChatClient, RunContext } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { errorType, eventFacts, exitOf, middlewareEvents } from '@lamella/core/authoring'
import type { Level, MiddlewareFacts, RunLine } from '../lines/line.ts'
import type { AnyContext, CallOwner, Inputs } from './call-record.ts'
import { CallRecord } from './call-record.ts'
import type { Recording } from './recording.ts'

/** Middleware of a list, by level. */
export type NamedMiddleware = Readonly<Record<Level, readonly MiddlewareFacts[]>>

/** Record of one run. */
export class RunRecord implements CallOwner {
  readonly recording: Recording
  readonly r: number
  readonly middleware: NamedMiddleware
  /** Money that the model calls of the run and of those inside it have cost. */
  cost: number | undefined
  lastInputs: Inputs | undefined
  #client: ChatClient | undefined
  #firstClient: string | undefined
  readonly #parent: RunRecord | undefined
  readonly #calls = new WeakMap<object, CallRecord>()
  /** Tool calls that run and have not started a run of their own. */
  readonly #openTools = new Set<CallRecord>()
  #callCount = 0
  #unobserve: () => void = () => {}

  constructor(
    recording: Recording,
    r: number,
    middleware: NamedMiddleware,
    parent: RunRecord | undefined,
  ) {
    this.recording = recording
    this.r = r
    this.middleware = middleware
    this.#parent = parent
  }

  /** Writes how the run began. */
  begin(context: AnyContext, level: 'agent' | 'chat'): void {
    const { recording, middleware } = this
    const { run } = context
    const { capture = 'facts' } = recording.options
    const agent = 'agent' in context ? context.agent : undefined
    const client = agent?.client ?? ('client' in context ? context.client : undefined)
    const tools = agent?.tools.map(({ name }) => name) ?? []
    recording.parts.learn(tools)
    this.#firstClient = client?.name ?? client?.provider
    const parent = this.#parent?.claimTool(run.agentName)
    const line: Omit<RunLine, 't' | 'r'> = {
      k: 'run',
      v: 1,
      id: run.id,
      agent: run.agentName,
      at: new Date().toISOString(),
      parent: this.#parent && { r: this.#parent.r, c: parent?.number },
      stream: 'stream' in context && context.stream,
      capture,
      level,
      middleware,
      tools,
      provider: client?.provider,
      client: this.#firstClient,
      model: client?.model,
    }
    recording.add(this.r, () => line)
    this.#unobserve = run.observe(({ type, data }) => this.#event(type, data))
  }

  get provider(): string | undefined {
    return this.#client?.provider
  }

  get model(): string | undefined {
    return this.#client?.model
  }

  setClient(client: ChatClient): string | undefined {
    this.#client = client
    const name = client.name ?? client.provider
    return name === this.#firstClient ? undefined : name
  }

  /** The call that a context is of, which its outermost probe opens. */
  callOf(level: Level, context: AnyContext): CallRecord {
    const known = this.#calls.get(context.metadata)
    if (known !== undefined) return known
    const number = level === 'agent' ? 0 : ++this.#callCount
    const call = new CallRecord(this, level, number, this.middleware[level].length)
    this.#calls.set(context.metadata, call)
    if (level === 'function') this.#openTools.add(call)
    call.open(context)
    return call
  }

  /** The tool call that a run inside this one was most likely started by. */
  claimTool(agentName: string | undefined): CallRecord | undefined {
    const open = [...this.#openTools]
    const call = open.find(({ name }) => name === agentName) ?? open[0]
    if (call !== undefined) this.#openTools.delete(call)
    return call
  }

  close(call: CallRecord): void {
    this.#openTools.delete(call)
  }

  addCost(cost: number): void {
    this.cost = (this.cost ?? 0) + cost
    this.#parent?.addCost(cost)
  }

  /** Writes how the run ended. */
  end(
    run: RunContext,
    ending: { readonly response?: AgentResponse } | { readonly error: unknown },
    signal: AbortSignal,
  ): void {
    this.#unobserve()
    const { recording, cost } = this
    const response = 'response' in ending ? ending.response : undefined
    const error = 'error' in ending ? ending.error : undefined
    const { usage, attempts } = run
    const block =
      response?.block ??
      (LamellaError.is(error, 'guardrail_tripped')
        ? (error as unknown as { block?: AgentResponse['block'] }).block
        : undefined)
    const status = error === undefined ? (response?.status ?? 'completed') : exitOf(error, signal)
    recording.add(this.r, () => ({
      k: 'end',
      status,
      usage,
      cost,
      attempts: attempts.length || undefined,
      block: block && {
        guardrail: block.guardrail,
        level: block.level,
        stage: block.stage,
        category: block.category,
      },
      reason: response?.reason === undefined ? undefined : recording.parts.text(response.reason),
      error: status === 'failed' ? errorType(error) : undefined,
      dropped: recording.dropped || undefined,
    }))
  }

  #event(type: string, data: unknown): void {
    const { recording } = this
    if (typeof data === 'object' && data !== null) {
      if (recording.told.has(data)) return
      recording.told.add(data)
    }
    const isKnown = middlewareEvents.includes(type)
    if (!isKnown && !recording.parts.hasTexts) {
      recording.add(this.r, () => ({ k: 'event', type }))
      return
    }
    // Now: the application may change its object afterwards.
    const facts = eventFacts(data)
    recording.add(this.r, () => ({
      k: 'event',
      type,
      facts: isKnown ? facts : (recording.parts.plain(facts) as typeof facts),
    }))
  }
}
