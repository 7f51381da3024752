import { createId } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { isRequired } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import { endingOf, isPause } from '../contract/control-flow.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type { AgentResponse, Decisions, PendingRequest, RunEnding } from '../contract/outcome.ts'
import { isTermination } from '../contract/termination.ts'
import { callGroup, cancelledResults, lastWithCalls, openCalls } from '../messages/call-results.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { contentFields, toChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import { visibleHistory } from '../messages/visible-history.ts'
import { hasQuestions, saveStep } from '../pausing/checkpoint.ts'
import type { ChatCallInput } from '../pipeline/chat-call.ts'
import { callRestart } from '../pipeline/chat-call.ts'
import type { CallTool } from '../pipeline/function-call.ts'
import type { BatchOutcome, RoundEdits } from '../run/round.ts'
import type { Run } from '../run/run.ts'
import { limitReached } from './limits.ts'
import { loopResponse } from './loop-response.ts'
import type { Batch } from './tool-batch.ts'
import { runBatch } from './tool-batch.ts'
import { addAll, addResults, askFor, hold } from './transcript.ts'

/** Input of the loop besides the run. */
export interface LoopInput {
  readonly client: ChatClient
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly config: LoopConfiguration
  /** Overrides the run's signal. */
  readonly signal: AbortSignal | undefined
  readonly callModel: (run: Run, input: ChatCallInput) => Promise<ChatResponse>
  readonly callFunction: CallTool
  /** Decisions about calls of earlier runs, by the id of their group. */
  readonly decided: ReadonlyMap<string, Decisions>
  /** Requests of earlier runs that are still open, for calls of a group. */
  readonly waitingIn: (messages: readonly Message[]) => ReadonlyMap<string, PendingRequest>
}

/** Model call, tool calls, model call … until there is an answer or a reason to stop. */
export async function runLoop(run: Run, input: LoopInput): Promise<AgentResponse> {
  const loop = new FunctionLoop(run, input)
  try {
    for (let goesOn = input.decided.size > 0; ; goesOn = false) {
      const ending = await (goesOn ? loop.resume() : loop.turn())
      if (ending !== undefined) return loop.finish(ending)
      // A round is kept when its middlewares are done with it, too.
      if (run.keepsSteps) await saveStep(run)
    }
  } catch (error) {
    return loop.finish(loop.endedBy(error))
  }
}

class FunctionLoop {
  readonly #run: Run
  readonly #input: LoopInput
  #iteration: number
  #functionCalls: number
  #consecutiveErrors: number
  #last: ChatResponse | undefined
  #base: ChatOptions | undefined
  #toolChoice: ChatOptions['toolChoice']
  /** The tools that interceptors of this iteration were given. */
  #shown: ChatOptions['tools']
  #offered: ChatOptions | undefined
  /** During tool calls: which, and the id of their group. */
  #working: { readonly id: string; readonly batch: Batch } | undefined

  constructor(run: Run, input: LoopInput) {
    this.#run = run
    this.#input = input
    const { checkpoint } = run
    this.#iteration = checkpoint?.iteration ?? 0
    this.#functionCalls = checkpoint?.functionCalls ?? 0
    this.#consecutiveErrors = checkpoint?.consecutiveErrors ?? 0
    this.#toolChoice = input.options.toolChoice
    this.#note()
  }

  /** Resumes calls of earlier runs with their decisions. */
  resume(): Promise<RunEnding | undefined> {
    const run = this.#run
    for (const [id, decisions] of this.#input.decided) hold(run, id, decisions)
    return run.interceptors?.resume(() => this.#resume()) ?? this.#resume()
  }

  async #resume(): Promise<RunEnding | undefined> {
    const run = this.#run
    let ending: RunEnding | undefined
    const pending: PendingRequest[] = []
    for (const [id, decisions] of this.#input.decided) {
      const group = callGroup(run.messages.all, id)
      if (group === undefined || group.open.length === 0) {
        run.held?.delete(id)
        continue
      }
      if (ending?.status === 'terminated' || ending?.status === 'budget_exhausted') {
        const calls = group.open.filter(({ callId }) => decisions.has(callId))
        addResults(run, cancelledResults(calls, 'the run ended'), group.id)
        continue
      }
      const waiting = this.#input.waitingIn(group.messages)
      const oneByOne = hasQuestions(run.checkpoint)
      const next = await this.#work(group.id, { calls: group.open, decisions, waiting, oneByOne })
      pending.push(...(next?.pending ?? []))
      if (ending === undefined || next?.status !== 'completed') ending = next ?? ending
    }
    return ending?.status === 'paused' ? { ...ending, pending } : ending
  }

  /** One model call and what follows from it. */
  turn(): Promise<RunEnding | undefined> {
    const run = this.#run
    run.iteration = run.place = this.#iteration
    this.#note()
    if (run.interceptors === undefined) return this.#round({})
    const { instructions } = this.#input
    this.#shown = run.tools.visible
    const options = { ...this.#input.options, tools: this.#shown }
    const round = { instructions, options, history: () => this.#history() }
    return run.interceptors.round(round, (edits) => this.#round(edits))
  }

  async #round(edits: RoundEdits): Promise<RunEnding | undefined> {
    const run = this.#run
    const { config } = this.#input
    if (run.stopped !== undefined) return this.#stop([])
    if (run.control?.mode !== undefined) return cancelledPause
    const limit = limitReached(config, run.loopState, run.moreIterations)
    const response = edits.response ?? (await this.#ask(edits, limit !== undefined))
    this.#take(response, edits.response !== undefined)
    const said = await this.#revised(response)
    const calls = openCalls(said)
    if (run.stopped !== undefined) return this.#stop(calls)
    if (calls.length > 0 && limit === undefined && config.enabled) {
      return await this.#work(lastWithCalls(said).id, { calls })
    }
    if (limit !== undefined) addResults(run, cancelledResults(calls, 'tools are off'))
    return { status: limit === 'max_iterations' ? limit : 'completed', reason: limit }
  }

  /**
   * Returns the response after interceptors have edited the conversation: calls they removed do not
   * run, calls they added do.
   */
  async #revised(response: ChatResponse): Promise<readonly Message[]> {
    const run = this.#run
    const { interceptors, messages, sink } = run
    if (interceptors === undefined) return response.messages
    const said = response.messages
    const revised = await messages.revise(said, () => interceptors.responded(response))
    if (revised === said) return said
    this.#last = { ...response, messages: revised, ...contentFields(revised) }
    // The provider has seen another answer, so from now on it is sent the whole conversation.
    run.conversationId = undefined
    run.sent = 0
    sink.push(callRestart)
    for (const { id, role, contents } of revised) sink.push({ contents, role, messageId: id })
    return revised
  }

  /** A termination or a pause that left the middlewares of a call ends the run here; all else is thrown on. */
  endedBy(error: unknown): RunEnding {
    const run = this.#run
    const { id, batch } = this.#working ?? {}
    if (isPause(error)) {
      if (id === undefined) return { status: 'paused' }
      const problem = 'what holds tool calls back cannot pause the run'
      throw new LamellaError(problem, { code: 'run_failed', cause: error })
    }
    if (!isTermination(error) || error.code === 'guardrail_tripped') throw error
    if (batch !== undefined) {
      const calls = batch.calls.filter(({ callId }) => batch.waiting?.has(callId) !== true)
      addResults(run, cancelledResults(calls, 'the run ended'), id)
    }
    if (error.result !== undefined) addAll(run, toChatResponse(error.result).messages)
    return endingOf(error)
  }

  finish(ending: RunEnding): AgentResponse {
    this.#note()
    return loopResponse(this.#run, this.#last, ending)
  }

  /** Returns the messages for the next model call. */
  #history(): readonly Message[] {
    const { conversationId, messages, sent } = this.#run
    return visibleHistory(messages.all.slice(), conversationId === undefined ? 0 : sent)
  }

  #ask(edits: RoundEdits, toolsAreOff: boolean): Promise<ChatResponse> {
    const run = this.#run
    const { client, signal, callModel, instructions, options } = this.#input
    run.servedBy = undefined
    run.offer = undefined
    this.#toolChoice = (edits.options ?? options).toolChoice
    return callModel(run, {
      client,
      instructions: edits.instructions ?? instructions,
      messages: edits.messages ?? this.#history(),
      options: this.#offer(edits.options, toolsAreOff),
      signal,
    })
  }

  /** Accepts the model's response, or its replacement. */
  #take(response: ChatResponse, isGiven: boolean): void {
    const run = this.#run
    const { client, signal } = this.#input
    if (isGiven) addAll(run, response.messages)
    else {
      ;(signal ?? run).throwIfAborted()
      run.messages.add(response.messages)
    }
    this.#iteration++
    this.#last = response
    // What a guest or a middleware has answered, the provider that keeps the conversation has not seen.
    if (run.servedBy === client.provider && run.lastModel?.iteration === run.iteration) {
      run.conversationId = response.conversationId ?? run.conversationId
      run.sent = run.messages.all.length
    }
  }

  /** The options with what the model is shown now; the same object while nothing changes. */
  #offer(edited: ChatOptions | undefined, toolsAreOff: boolean): ChatOptions {
    const { conversationId, tools } = this.#run
    const given = edited ?? this.#input.options
    const options: ChatOptions = toolsAreOff ? { ...given, toolChoice: 'none' } : given
    const visible = edited?.tools === this.#shown ? tools.visible : (edited?.tools ?? tools.visible)
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

  async #work(id: string, batch: Batch): Promise<RunEnding | undefined> {
    const run = this.#run
    this.#working = { id, batch }
    this.#note()
    const isCancelled = run.control?.mode === 'after-model'
    if (run.keepsSteps || isCancelled) hold(run, id, batch.decisions)
    if (isCancelled) return cancelledPause
    if (run.keepsSteps) await saveStep(run)
    const ending = this.#took(id, batch, await this.#runBatch(batch))
    if (ending === undefined) this.#note()
    return ending
  }

  /** Takes in what came of a batch. */
  #took(id: string, batch: Batch, outcome: BatchOutcome): RunEnding | undefined {
    const run = this.#run
    this.#working = undefined
    this.#count(outcome)
    const { results, pending, terminates, direct } = outcome
    const waits = pending.length > 0 || outcome.interrupted
    // Another pass of the run takes what was decided as done.
    for (const { callId, contents, error } of results)
      batch.decisions?.set(callId, { result: { contents, error } })
    if (waits) {
      hold(run, id, batch.decisions, results)
      askFor(run, id, pending, batch.waiting)
    } else run.held?.delete(id)
    addResults(run, results, id)
    if (waits) {
      const isCut = pending.length === 0 && run.interrupts.pending.length === 0
      return isCut ? cancelledPause : { status: 'paused', pending }
    }
    run.toolResults = undefined
    if (terminates?.code === 'budget_exhausted') return this.endedBy(terminates)
    if (terminates !== undefined) return endingOf(terminates)
    if (run.stopped !== undefined) return this.#stop([])
    if (direct !== undefined) {
      addAll(run, [{ id: createId('msg'), role: 'assistant', contents: direct.contents }])
      return { status: 'completed', reason: 'return_direct' }
    }
    return isRequired(run.offer?.toolChoice ?? this.#toolChoice)
      ? { status: 'completed' }
      : undefined
  }

  #runBatch(batch: Batch): Promise<BatchOutcome> {
    const run = this.#run
    const { config } = this.#input
    const budget = config.maxFunctionCalls - this.#functionCalls
    if (run.interceptors === undefined) return runBatch(run, batch, budget, this.#input)
    const parallel = batch.calls.length > 1 && config.maxConcurrency > 1 && !batch.oneByOne
    return run.interceptors.batch(batch.calls, parallel, () =>
      runBatch(run, batch, budget, this.#input),
    )
  }

  #count({ results, executed, failed }: BatchOutcome): void {
    this.#functionCalls += executed
    if (results.length > 0) this.#consecutiveErrors = failed ? this.#consecutiveErrors + 1 : 0
  }

  #stop(calls: readonly FunctionCallContent[]): RunEnding {
    const run = this.#run
    const { reason, response } = run.stopped!
    addResults(run, cancelledResults(calls, 'the run was stopped'))
    if (response !== undefined) addAll(run, toChatResponse(response).messages)
    return { status: 'terminated', reason }
  }

  #note(): void {
    this.#run.loopState = {
      iteration: this.#iteration,
      functionCalls: this.#functionCalls,
      consecutiveErrors: this.#consecutiveErrors,
    }
  }
}

/** A cancel has found its safe point. */
const cancelledPause: RunEnding = { status: 'paused', reason: 'cancelled' }
