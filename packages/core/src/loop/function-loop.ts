import { none } from '../base/none.ts'
import { createId } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { isRequired } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import { endingOf, isPause } from '../contract/control-flow.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type { AgentResponse, PendingRequest, RunEnding } from '../contract/outcome.ts'
import { isTermination } from '../contract/termination.ts'
import type { CallGroup } from '../messages/call-results.ts'
import {
  callAddress,
  callGroup,
  cancelledResults,
  lastWithCalls,
  openCalls,
} from '../messages/call-results.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import { visibleHistory } from '../messages/visible-history.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import type { ChatCallInput } from '../pipeline/chat-call.ts'
import { callRestart } from '../pipeline/chat-call.ts'
import { superseded } from '../pipeline/compose.ts'
import type { CallTool } from '../pipeline/function-call.ts'
import type { BatchOutcome, RoundEdits, RoundInterceptors } from '../run/round.ts'
import type { Run } from '../run/run.ts'
import { limitReached } from './limits.ts'
import { loopResponse } from './loop-response.ts'
import type { Batch } from './tool-batch.ts'
import { runBatch } from './tool-batch.ts'
import { addAll, addResults, askFor } from './transcript.ts'

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
  /** Requests that are still open for calls of a group, by position. */
  readonly waitingIn: (group: CallGroup) => ReadonlyMap<string, PendingRequest>
}

/** Model call, tool calls, model call … until there is an answer or a reason to stop. */
export async function runLoop(run: Run, input: LoopInput): Promise<AgentResponse> {
  const loop = new FunctionLoop(run, input)
  try {
    for (let groups = loop.openGroups(); ; groups = none) {
      const ending = await (groups.length > 0 ? loop.resume(groups) : loop.turn())
      if (ending !== undefined) return loop.finish(ending)
      // A round is kept when its middlewares are done with it, too.
      if (run.keepsSteps) await saveStep(run)
    }
  } catch (error) {
    return loop.finish(loop.endedBy(error))
  } finally {
    run.messages.executing = none
  }
}

class FunctionLoop {
  readonly #run: Run
  readonly #input: LoopInput
  #last: ChatResponse | undefined
  /** Options of the last model call, before its middlewares. */
  #options: ChatOptions
  /** `run.givenUp` when the loop began. */
  readonly #givenUp: number
  /** The tools that interceptors of this iteration were given. */
  #shown: ChatOptions['tools']
  /** During tool calls: which, and the id of their group. */
  #working: { readonly id: string; readonly batch: Batch } | undefined

  constructor(run: Run, input: LoopInput) {
    this.#run = run
    this.#input = input
    this.#options = input.options
    this.#givenUp = run.givenUp
  }

  /** Groups with calls that a pause or a crash left open. */
  openGroups(): readonly string[] {
    const { steps, messages } = this.#run.journal
    const groups = steps.filter((step) => step.kind === 'calls').map(({ group }) => group)
    return groups.filter(
      (id, at) => groups.indexOf(id) === at && callGroup(messages.all, id)?.open.length,
    )
  }

  /** Resumes open calls with the answers to their requests. */
  resume(groups: readonly string[]): Promise<RunEnding | undefined> {
    const { interceptors } = this.#run
    return interceptors?.resume(() => this.#resume(groups)) ?? this.#resume(groups)
  }

  async #resume(groups: readonly string[]): Promise<RunEnding | undefined> {
    const run = this.#run
    const { answers, asked } = run.journal
    let ending: RunEnding | undefined
    const pending: PendingRequest[] = []
    for (const id of groups) {
      const { all } = run.messages
      const group = callGroup(all, id)
      if (group === undefined) continue
      if (ending?.status === 'terminated' || ending?.status === 'budget_exhausted') {
        const calls = group.open.filter((call) => answers.has(callAddress(all, call)))
        addResults(run, cancelledResults(calls, 'the run ended'), id)
        continue
      }
      const waiting = this.#input.waitingIn(group)
      const next = await this.#work(id, { calls: group.open, waiting, oneByOne: asked })
      pending.push(...(next?.pending ?? []))
      if (ending === undefined || next?.status !== 'completed') ending = next ?? ending
    }
    return ending?.status === 'paused' ? { ...ending, pending } : ending
  }

  /** One model call and what follows from it. */
  turn(): Promise<RunEnding | undefined> {
    const run = this.#run
    run.iteration = run.place = run.loopState.iteration
    const { instructions } = this.#input
    if (run.interceptors === undefined) return this.#round({ instructions })
    this.#shown = run.tools.visible
    const options = Object.freeze({ ...this.#input.options, tools: this.#shown })
    const round = { instructions, options, history: () => this.#history() }
    return run.interceptors.round(round, (edits) => this.#round(edits))
  }

  async #round(edits: RoundEdits): Promise<RunEnding | undefined> {
    const run = this.#run
    const { config } = this.#input
    if (run.givenUp > this.#givenUp) throw superseded()
    if (run.stopped !== undefined) return this.#stop([])
    if (run.control?.mode !== undefined) return cancelledPause
    const limit = limitReached(config, run.loopState, run.moreIterations)
    const response = edits.response ?? (await this.#ask(edits, limit !== undefined))
    this.#take(response, edits.response !== undefined)
    const { interceptors } = run
    const said = interceptors ? await this.#revised(response, interceptors) : response.messages
    const calls = openCalls(said)
    if (run.stopped !== undefined) return this.#stop(calls)
    if (calls.length > 0 && limit === undefined && config.enabled) {
      return await this.#work(lastWithCalls(said).id, { calls, waiting: nothingWaits })
    }
    if (limit !== undefined) addResults(run, cancelledResults(calls, 'tools are off'))
    return { status: limit === 'max_iterations' ? limit : 'completed', reason: limit }
  }

  /**
   * Returns the response after interceptors have edited the conversation: calls they removed do not
   * run, calls they added do.
   */
  async #revised(
    response: ChatResponse,
    interceptors: RoundInterceptors,
  ): Promise<readonly Message[]> {
    const run = this.#run
    const { journal, messages, sink } = run
    const said = response.messages
    const revised = await messages.revised(said, () => interceptors.responded(response))
    if (revised === said) return said
    journal.record({ kind: 'revise', count: said.length, messages: revised })
    this.#last = { ...response, value: undefined }
    sink.push(callRestart)
    for (const { id: messageId, ...rest } of revised) sink.push({ ...rest, messageId })
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
      const { all } = run.messages
      const calls = batch.calls.filter((call) => !batch.waiting.has(callAddress(all, call)))
      addResults(run, cancelledResults(calls, 'the run ended'), id)
    }
    if (error.result !== undefined) addAll(run, toChatResponse(error.result).messages)
    return endingOf(error)
  }

  finish(ending: RunEnding): AgentResponse {
    const run = this.#run
    // A hook after the last iteration may have stopped the run.
    const isStopped = run.stopped !== undefined && stoppable.has(ending.status)
    return loopResponse(run, this.#last, isStopped ? this.#stop([]) : ending)
  }

  /** Returns the messages for the next model call. */
  #history(): readonly Message[] {
    return Object.freeze(visibleHistory(this.#run.messages.all))
  }

  #ask(edits: RoundEdits, toolsAreOff: boolean): Promise<ChatResponse> {
    const run = this.#run
    const { client, signal, callModel } = this.#input
    const options = (this.#options = edits.options ?? this.#input.options)
    run.servedBy = undefined
    run.offer = undefined
    const { offered } = run.tools
    const own = edits.options?.tools
    const isEdited = own !== undefined && own !== this.#shown
    const tools = isEdited ? own : offered
    return callModel(run, {
      client,
      instructions: edits.instructions,
      messages: edits.messages ?? this.#history(),
      options: Object.freeze({
        ...options,
        ...(toolsAreOff && { toolChoice: 'none' as const }),
        tools: tools.length > 0 ? tools : undefined,
      }),
      signal,
      shown: isEdited ? this.#shown : offered,
    })
  }

  /** Accepts the model's response, or its replacement. */
  #take(response: ChatResponse, isGiven: boolean): void {
    const run = this.#run
    const { signal } = this.#input
    if (isGiven) addAll(run, response.messages, 'response')
    else {
      ;(signal ?? run).throwIfAborted()
      run.journal.record({ kind: 'response', messages: response.messages })
    }
    this.#last = response
  }

  async #work(id: string, batch: Batch): Promise<RunEnding | undefined> {
    const run = this.#run
    this.#working = { id, batch }
    run.messages.executing = batch.calls
    run.journal.record({ kind: 'calls', group: id })
    if (run.control?.mode === 'after-model') return cancelledPause
    if (run.keepsSteps) await saveStep(run)
    return this.#took(id, batch, await this.#runBatch(batch))
  }

  /** Takes in what came of a batch. */
  #took(id: string, batch: Batch, outcome: BatchOutcome): RunEnding | undefined {
    const run = this.#run
    this.#working = undefined
    run.messages.executing = none
    const { results, pending, terminates, direct } = outcome
    const waits = pending.length > 0 || outcome.interrupted
    askFor(run, id, pending, batch.waiting)
    addResults(run, results, id, outcome)
    if (waits) {
      const isCut = pending.length === 0 && run.interrupts.pending.length === 0
      return isCut ? cancelledPause : { status: 'paused', pending }
    }
    if (terminates?.code === 'budget_exhausted') return this.endedBy(terminates)
    if (terminates !== undefined) return endingOf(terminates)
    if (run.stopped !== undefined) return this.#stop([])
    if (direct !== undefined) {
      addAll(run, [{ id: createId('msg'), role: 'assistant', contents: direct.contents }])
      return { status: 'completed', reason: 'return_direct' }
    }
    const { toolChoice } = run.offer ?? this.#options
    return isRequired(toolChoice) ? { status: 'completed' } : undefined
  }

  #runBatch(batch: Batch): Promise<BatchOutcome> {
    const run = this.#run
    const { config } = this.#input
    const budget = config.maxFunctionCalls - run.loopState.functionCalls
    if (run.interceptors === undefined) return runBatch(run, batch, budget, this.#input)
    const parallel = batch.calls.length > 1 && config.maxConcurrency > 1 && !batch.oneByOne
    return run.interceptors.batch(batch.calls, parallel, () =>
      runBatch(run, batch, budget, this.#input),
    )
  }

  #stop(calls: readonly FunctionCallContent[]): RunEnding {
    const run = this.#run
    const { reason, response } = run.stopped!
    addResults(run, cancelledResults(calls, 'the run was stopped'))
    if (response !== undefined) addAll(run, toChatResponse(response).messages)
    return { status: 'terminated', reason }
  }
}

/** A cancel has found its safe point. */
const cancelledPause: RunEnding = { status: 'paused', reason: 'cancelled' }
const stoppable: ReadonlySet<string> = new Set(['completed', 'max_iterations'])
const nothingWaits: ReadonlyMap<string, PendingRequest> = new Map()
