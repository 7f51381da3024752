import type { AgentResponse, PendingRequest } from './agent-response.ts'
import { callGroup, lastWithCalls } from './call-group.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatCallInput } from './chat-call.ts'
import { toChatResponse } from './to-chat-response.ts'
import type { ChatOptions } from './chat-options.ts'
import { isRequired } from './chat-options.ts'
import type { ChatResponse } from './chat-response.ts'
import { contentFields } from './chat-response.ts'
import type { Content, FunctionCallContent, FunctionResultContent } from './content.ts'
import { createId } from './create-id.ts'
import type { FunctionPipeline } from './function-call.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import { cancelledResults, openCalls } from './open-calls.ts'
import type { Run } from './run.ts'
import type { RunEnding } from './run-ending.ts'
import { endingOf } from './run-ending.ts'
import { isTermination } from './termination.ts'
import type { BatchOutcome, Decisions, OpenBatch } from './tool-batch.ts'
import { runBatch } from './tool-batch.ts'
import { visibleHistory } from './visible-history.ts'

/** What the loop works with besides the run. */
export interface LoopInput {
  readonly client: ChatClient
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly config: LoopConfiguration
  readonly signal: AbortSignal
  readonly callModel: (run: Run, input: ChatCallInput) => Promise<ChatResponse>
  readonly callFunction: FunctionPipeline
  /** Decisions about calls of earlier runs, by the id of their group. */
  readonly decided: ReadonlyMap<string, Decisions>
  /** Requests of earlier runs that are still open, for calls of a group. */
  readonly waitingIn: (messages: readonly Message[]) => ReadonlyMap<string, PendingRequest>
}

/** Model call, tool calls, model call … until there is an answer or a reason to stop. */
export async function runLoop(run: Run, input: LoopInput): Promise<AgentResponse> {
  const loop = new FunctionLoop(run, input)
  let ending: RunEnding | undefined
  try {
    if (input.decided.size > 0) ending = await loop.resume()
    while (ending === undefined) ending = await loop.turn()
  } catch (error) {
    ending = loop.endedBy(error)
  }
  return loop.finish(ending)
}

class FunctionLoop {
  readonly #run: Run
  readonly #input: LoopInput
  #iteration: number
  #functionCalls: number
  #consecutiveErrors: number
  #last: ChatResponse | undefined
  #base: ChatOptions | undefined
  #offered: ChatOptions | undefined
  /** During tool calls: which, and the id of their group. */
  #working: { readonly id: string; readonly batch: OpenBatch } | undefined

  constructor(run: Run, input: LoopInput) {
    this.#run = run
    this.#input = input
    const { checkpoint } = run
    this.#iteration = checkpoint?.iteration ?? 0
    this.#functionCalls = checkpoint?.functionCalls ?? 0
    this.#consecutiveErrors = checkpoint?.consecutiveErrors ?? 0
    this.#note()
  }

  /** Goes on with calls of earlier runs, now that something was decided about them. */
  async resume(): Promise<RunEnding | undefined> {
    const run = this.#run
    let ending: RunEnding | undefined
    const pending: PendingRequest[] = []
    for (const [id, decisions] of this.#input.decided) {
      const group = callGroup(run.messages.all, id)
      if (group === undefined || group.open.length === 0) continue
      if (ending?.status === 'terminated' || ending?.status === 'budget_exhausted') {
        const calls = group.open.filter(({ callId }) => decisions.has(callId))
        this.#addResults(cancelledResults(calls, 'the run ended'), group.id)
        continue
      }
      const waiting = this.#input.waitingIn(group.messages)
      const oneByOne = run.checkpoint?.pending.some(({ kind }) => kind === 'interrupt')
      const next = await this.#work(group.id, { calls: group.open, decisions, waiting, oneByOne })
      pending.push(...(next?.pending ?? []))
      if (ending === undefined || next?.status !== 'completed') ending = next ?? ending
    }
    return ending?.status === 'paused' ? { ...ending, pending } : ending
  }

  /** One model call and what follows from it. */
  async turn(): Promise<RunEnding | undefined> {
    const run = this.#run
    const { config, options } = this.#input
    if (run.stopped !== undefined) return this.#stop([])
    const limit = this.#limit()
    const response = await this.#callModel(
      limit === undefined ? options : { ...options, toolChoice: 'none' },
    )
    const calls = openCalls(response.messages)
    if (run.stopped !== undefined) return this.#stop(calls)
    if (calls.length > 0 && limit === undefined && config.enabled) {
      return this.#work(lastWithCalls(response.messages).id, { calls })
    }
    if (limit !== undefined) this.#addResults(cancelledResults(calls, 'tools are off'))
    return { status: limit === 'max_iterations' ? limit : 'completed', reason: limit }
  }

  /** A termination or a pause that left the layers of a call ends the run here; all else is thrown on. */
  endedBy(error: unknown): RunEnding {
    const { id, batch } = this.#working ?? {}
    if (isPause(error)) {
      if (id === undefined) return { status: 'paused' }
      const problem = 'what holds tool calls back cannot pause the run'
      throw new LamellaError(problem, { code: 'run_failed', cause: error })
    }
    if (!isTermination(error) || error.code === 'guardrail_tripped') throw error
    if (batch !== undefined) {
      const calls = batch.calls.filter(({ callId }) => batch.waiting?.has(callId) !== true)
      this.#addResults(cancelledResults(calls, 'the run ended'), id)
    }
    if (error.result !== undefined) this.#addAll(toChatResponse(error.result).messages)
    return endingOf(error)
  }

  finish({ status, reason, pending = [] }: RunEnding): AgentResponse {
    this.#note()
    const run = this.#run
    run.place = 'run'
    const { id, finishReason, model, metadata = {}, value } = this.#last ?? {}
    const messages = [...run.messages.added]
    return {
      id,
      messages,
      ...contentFields(messages),
      usage: run.usage,
      finishReason,
      model,
      conversationId: run.conversationId,
      metadata,
      status,
      runId: run.id,
      attempts: run.attempts,
      pending: status === 'paused' ? [...pending, ...run.interrupts.pending] : pending,
      ...(reason === undefined ? undefined : { reason }),
      ...(value === undefined || status === 'terminated' ? undefined : { value }),
    }
  }

  /** Why tools are off, if they are. */
  #limit(): 'max_consecutive_errors' | 'max_function_calls' | 'max_iterations' | undefined {
    const { maxConsecutiveErrorsPerRequest, maxFunctionCalls, maxIterations } = this.#input.config
    if (this.#consecutiveErrors >= Math.max(1, maxConsecutiveErrorsPerRequest))
      return 'max_consecutive_errors'
    if (this.#functionCalls >= maxFunctionCalls) return 'max_function_calls'
    return this.#iteration >= maxIterations ? 'max_iterations' : undefined
  }

  async #callModel(options: ChatOptions): Promise<ChatResponse> {
    const run = this.#run
    const { client, instructions, signal, callModel } = this.#input
    run.iteration = run.place = this.#iteration
    this.#note()
    run.servedBy = undefined
    const from = run.conversationId === undefined ? 0 : run.sent
    const messages = visibleHistory(run.messages.all.slice(), from)
    const input = { client, instructions, messages, options: this.#offer(options), signal }
    const response = await callModel(run, input)
    signal.throwIfAborted()
    this.#iteration++
    this.#last = response
    run.messages.add(response.messages)
    // What a guest or a layer has answered, the provider that keeps the conversation has not seen.
    if (run.servedBy === client.provider) {
      run.conversationId = response.conversationId ?? run.conversationId
      run.sent = run.messages.all.length
    }
    return response
  }

  /** The options with what the model is shown now; the same object while nothing changes. */
  #offer(options: ChatOptions): ChatOptions {
    const { conversationId, tools } = this.#run
    const { visible } = tools
    const last = this.#offered
    if (
      last?.tools === visible &&
      last.conversationId === conversationId &&
      this.#base === options
    ) {
      return last
    }
    this.#base = options
    const shown = visible.length > 0 ? visible : undefined
    this.#offered = { ...options, tools: shown, conversationId }
    return this.#offered
  }

  async #work(id: string, batch: OpenBatch): Promise<RunEnding | undefined> {
    const run = this.#run
    const { config, callFunction, options, signal } = this.#input
    this.#working = { id, batch }
    const budget = config.maxFunctionCalls - this.#functionCalls
    const outcome = await runBatch(run, { ...batch, budget, signal }, callFunction, config)
    this.#working = undefined
    this.#count(outcome)
    const { results, pending, terminates, direct } = outcome
    const waits = pending.length > 0 || outcome.interrupted
    // Another pass of the run takes what was decided as done.
    for (const { callId, contents, error } of results)
      batch.decisions?.set(callId, { result: { contents, error } })
    if (waits) {
      this.#hold(id, batch.decisions, results)
      this.#ask(id, pending, batch.waiting)
    }
    this.#addResults(results, id)
    if (waits) return { status: 'paused', pending }
    run.toolResults = undefined
    if (terminates !== undefined) return endingOf(terminates)
    if (run.stopped !== undefined) return this.#stop([])
    if (direct !== undefined) {
      this.#addAll([{ id: createId('msg'), role: 'assistant', contents: direct.contents }])
      return { status: 'completed', reason: 'return_direct' }
    }
    return isRequired(options.toolChoice) ? { status: 'completed' } : undefined
  }

  #count({ results, executed, failed }: BatchOutcome): void {
    this.#functionCalls += executed
    if (results.length > 0) this.#consecutiveErrors = failed ? this.#consecutiveErrors + 1 : 0
  }

  /** Keeps what was decided about calls that are still open. */
  #hold(
    id: string,
    decisions: Decisions | undefined,
    results: readonly FunctionResultContent[] = [],
  ): void {
    const open = new Map(decisions)
    for (const { callId } of results) open.delete(callId)
    ;(this.#run.held ??= new Map()).set(id, open)
  }

  /** Writes down what is to be decided, at the calls it is about. */
  #ask(id: string, pending: readonly PendingRequest[], waiting: OpenBatch['waiting']): void {
    const { messages, sink } = this.#run
    const requests: Content[] = []
    for (const entry of pending) {
      if (entry.kind === 'approval' && waiting?.get(entry.request.call.callId) !== entry)
        requests.push(entry.request)
    }
    const message = messages.all.findLast((entry) => entry.id === id)
    if (requests.length === 0 || message === undefined) return
    messages.replace({ ...message, contents: [...message.contents, ...requests] })
    sink.push({ contents: requests, role: 'assistant', messageId: id })
  }

  /** Results stand behind their calls, also when the talk has gone on since. */
  #addResults(results: readonly FunctionResultContent[], groupId?: string): void {
    if (results.length === 0) return
    const { messages, conversationId, sent, sink } = this.#run
    const { all } = messages
    const message: Message = { id: createId('msg'), role: 'tool', contents: results }
    const group =
      groupId === undefined || all.at(-1)?.id === groupId ? undefined : callGroup(all, groupId)
    const end = group?.end ?? all.length
    // What a provider that keeps the conversation has seen lies behind.
    messages.insert(conversationId === undefined ? end : Math.max(end, sent), message)
    sink.push({ contents: results, role: 'tool', messageId: message.id })
  }

  #stop(calls: readonly FunctionCallContent[]): RunEnding {
    const { reason, response } = this.#run.stopped!
    this.#addResults(cancelledResults(calls, 'the run was stopped'))
    if (response !== undefined) this.#addAll(toChatResponse(response).messages)
    return { status: 'terminated', reason }
  }

  #addAll(messages: readonly Message[]): void {
    this.#run.messages.add(messages)
    for (const { id, role, contents } of messages)
      this.#run.sink.push({ contents, role, messageId: id })
  }

  #note(): void {
    this.#run.loopState = {
      iteration: this.#iteration,
      functionCalls: this.#functionCalls,
      consecutiveErrors: this.#consecutiveErrors,
    }
  }
}
