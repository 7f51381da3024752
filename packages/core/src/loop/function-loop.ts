import { none } from '../base/none.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions, LoopState } from '../contract/chat-options.ts'
import { isRequired } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import { endingOf, isPause } from '../contract/control-flow.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type {
  AgentResponse,
  Checkpoint,
  Decision,
  PendingRequest,
  RunEnding,
} from '../contract/outcome.ts'
import type { Tool } from '../contract/run.ts'
import { isTermination } from '../contract/termination.ts'
import {
  callAddress,
  callGroup,
  openIn,
  cancelledResults,
  lastWithCalls,
  openCalls,
} from '../messages/call-results.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import { errorResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import { visibleHistory } from '../messages/visible-history.ts'
import { waitingIn } from '../pausing/approvals.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import type { OpenApprovals } from '../pausing/open-approvals.ts'
import type { CallModel } from '../pipeline/chat-call.ts'
import { callRestart, ChatCall } from '../pipeline/chat-call.ts'
import { passAnswer } from '../pipeline/model-call.ts'
import { superseded } from '../pipeline/compose.ts'
import type { CallTool } from '../pipeline/function-call.ts'
import type { BatchOutcome, IterationEdits, LoopLevels } from '../run/loop-levels.ts'
import { missingTool } from '../run/live-tools.ts'
import type { Run } from '../run/run.ts'
import type { Batch } from './tool-batch.ts'
import { runBatch } from './tool-batch.ts'
import {
  addAll,
  addResults,
  askFor,
  directAnswer,
  loopResponse,
  resultOf,
  settleCalls,
} from './transcript.ts'

/** Input of the loop besides the run. */
export interface LoopInput {
  readonly client: ChatClient
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly config: LoopConfiguration
  /** Overrides the run's signal. */
  readonly signal: AbortSignal | undefined
  readonly callModel: CallModel
  readonly callFunction: CallTool
  /** Approvals that runs of the agent wait for. */
  readonly approvals: OpenApprovals
}

/** Model call, tool calls, model call … until there is an answer or a reason to stop. */
export async function runLoop(run: Run, input: LoopInput): Promise<AgentResponse> {
  const loop = new FunctionLoop(run, input)
  try {
    for (let groups = loop.openGroups(); ; groups = none) {
      const ending = await (groups.length > 0 ? loop.resume(groups) : loop.iterate())
      if (ending !== undefined) {
        const finished = loop.finish(ending)
        return 'then' in finished ? await finished : finished
      }
      // An iteration is kept when its middleware is done with it, too.
      if (run.keepsSteps) await saveStep(run)
    }
  } catch (error) {
    if (!isPause(error)) settleCalls(run, error)
    return await loop.finish(await loop.endedBy(error))
  } finally {
    run.messages.execute(none)
  }
}

/** A tool that runs an agent. */
export interface ToolOfAgent extends Tool {
  /** @throws LamellaError `unknown_tool` if a call of the agent that was approved cannot run */
  readonly checkTools?: (checkpoint: Checkpoint, run: Pick<Run, 'findTool' | 'journal'>) => void
}

class FunctionLoop {
  readonly #run: Run
  readonly #input: LoopInput
  #last: ChatResponse | undefined
  /** Options of the last model call, before its middleware. */
  #options: ChatOptions
  /** `run.progress.cancellations` when the loop began. */
  readonly #cancellations: number
  /** The tools that the middleware of this iteration was given. */
  #shown: ChatOptions['tools']
  /** During tool calls: which, and the id of their group. */
  #working: { readonly id: string; readonly batch: Batch } | undefined

  constructor(run: Run, input: LoopInput) {
    this.#run = run
    this.#input = input
    this.#options = input.options
    this.#cancellations = run.progress.cancellations
  }

  /** Groups with calls that a pause or a crash left open. */
  openGroups(): readonly string[] {
    const { agents, answers, calledGroups, messages } = this.#run.journal
    if (calledGroups.length === 0) return none
    return calledGroups.filter((id) => {
      const open = openIn(messages.all, callGroup(messages.all, id))
      for (const call of open) {
        const address = callAddress(messages.all, call)
        const answer = answers.get(address) as Decision | undefined
        if (answer !== undefined) this.#checkTool(call.name, answer)
        const inner = agents.get(address)
        const tool = inner && (this.#run.tools.get(call.name) as ToolOfAgent | undefined)
        tool?.checkTools?.(inner!, this.#run)
      }
      return open.length > 0
    })
  }

  /** @throws LamellaError `unknown_tool` if a call that was approved cannot run: its request stays open */
  #checkTool(name: string, answer: Decision): void {
    const isApproved = 'approved' in answer && answer.approved
    const { onUnknownTool } = this.#input.config
    if (isApproved && onUnknownTool === undefined && this.#run.tools.get(name) === undefined)
      missingTool(name)
  }

  /** Resumes open calls with the answers to their requests. */
  resume(groups: readonly string[]): Promise<RunEnding | undefined> {
    const { levels } = this.#run.progress
    if (levels === undefined) return this.#resume(groups)
    const input = { resumed: true, instructions: undefined, options: {}, history: () => none }
    return levels.iteration(input, () => this.#resume(groups))
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
      const calls = openIn(all, group)
      if (ending?.status === 'terminated' || ending?.status === 'budget_exhausted') {
        const answered = calls.filter((call) => answers.has(callAddress(all, call)))
        addResults(run, cancelledResults(answered, 'the run ended'), id)
        continue
      }
      const waiting = waitingIn(run, calls, this.#input.approvals)
      const next = await this.#work(id, { calls, waiting, oneByOne: asked })
      pending.push(...(next?.pending ?? []))
      if (ending === undefined || next?.status !== 'completed') ending = next ?? ending
    }
    return ending?.status === 'paused' ? { ...ending, pending } : ending
  }

  /** One model call and what follows from it. */
  iterate(): Promise<RunEnding | undefined> {
    const run = this.#run
    run.progress.beginIteration()
    const { instructions } = this.#input
    const { levels } = run.progress
    if (levels === undefined) return this.#iterate({ instructions })
    this.#shown = run.tools.visible
    const options = Object.freeze({ ...this.#input.options, tools: this.#shown })
    const input = { resumed: false, instructions, options, history: () => this.#history() }
    return levels.iteration(input, (edits) => this.#iterate(edits))
  }

  async #iterate(edits: IterationEdits): Promise<RunEnding | undefined> {
    const run = this.#run
    const { config, signal } = this.#input
    if (run.progress.cancellations > this.#cancellations) throw superseded()
    if (run.stopped !== undefined) return this.#stop([])
    if (run.control?.mode !== undefined) return cancelledPause
    const limit = limitReached(config, run.journal.loop, run.moreIterations)
    const { response: given } = edits
    const call = given === undefined ? this.#callOf(edits, limit !== undefined) : undefined
    const response = await (call === undefined
      ? this.#say(given!, 'response')
      : this.#input.callModel(call))
    if (call !== undefined) {
      ;(signal ?? run).throwIfAborted()
      run.journal.record({ kind: 'response', messages: response.messages })
    }
    this.#last = response
    const { levels } = run.progress
    const said = levels ? await this.#revised(response, levels) : response.messages
    const calls = openCalls(said)
    if (run.stopped !== undefined) return this.#stop(calls)
    const broken = calls.length > 0 ? incomplete.get(response.finishReason ?? '') : undefined
    if (broken !== undefined) {
      const result = errorResult('cancelled', broken, broken)
      const results = calls.map((cut) => resultOf(cut, result))
      addResults(run, results, lastWithCalls(said).id, { failed: true })
      if (response.finishReason !== 'length' || limit !== undefined)
        return { status: 'completed', reason: response.finishReason }
      return undefined
    }
    if (calls.length > 0 && limit === undefined && config.enabled) {
      const { requested } = call ?? {}
      return await this.#work(lastWithCalls(said).id, { calls, waiting: nothingWaits, requested })
    }
    if (limit !== undefined) addResults(run, cancelledResults(calls, 'tools are off'))
    return { status: limit === 'max_iterations' ? limit : 'completed', reason: limit }
  }

  /**
   * Returns the response after middleware has edited the conversation: calls it removed do not run, calls it
   * added do.
   */
  async #revised(response: ChatResponse, levels: LoopLevels): Promise<readonly Message[]> {
    const run = this.#run
    const { journal, messages, sink } = run
    const said = response.messages
    const revised = await messages.revised(said, () => levels.responded(response))
    if (revised === said) return said
    journal.record({ kind: 'revise', count: said.length, messages: revised })
    this.#last = { ...response, value: undefined }
    sink.push(callRestart)
    for (const { id: messageId, ...rest } of revised) sink.push({ ...rest, messageId })
    return revised
  }

  /** A termination or a pause that left the middleware of a call ends the run here; all else is thrown on. */
  async endedBy(error: unknown): Promise<RunEnding> {
    const run = this.#run
    if (isPause(error)) {
      if (this.#working === undefined) return { status: 'paused' }
      const problem = 'what holds tool calls back cannot pause the run'
      throw new LamellaError(problem, { code: 'run_failed', cause: error })
    }
    if (!isTermination(error) || error.code === 'guardrail_tripped') throw error
    if (error.result !== undefined) await this.#say(toChatResponse(error.result, run.ids))
    return endingOf(error)
  }

  /** Makes the response. Async only if a hook after the last iteration has stopped the run. */
  finish(ending: RunEnding): AgentResponse | Promise<AgentResponse> {
    const run = this.#run
    if (run.stopped === undefined || !stoppable.has(ending.status))
      return loopResponse(run, this.#last, ending)
    return this.#stop([]).then((last) => loopResponse(run, this.#last, last))
  }

  /** Returns the messages for the next model call. */
  #history(): readonly Message[] {
    return Object.freeze(visibleHistory(this.#run.messages.all))
  }

  #callOf(edits: IterationEdits, toolsAreOff: boolean): ChatCall {
    const run = this.#run
    const { client, signal, callModel } = this.#input
    const options = (this.#options = edits.options ?? this.#input.options)
    const { offered } = run.tools
    const own = edits.options?.tools
    const isEdited = own !== undefined && own !== this.#shown
    const tools = isEdited ? own : offered
    const input = {
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
    }
    return new ChatCall(run, input, callModel)
  }

  /** Adds an answer that no model call gave, as the middleware that handles such answers leaves it. */
  async #say(
    answer: ChatResponse,
    kind: 'messages' | 'response' = 'messages',
  ): Promise<ChatResponse> {
    const run = this.#run
    const { client, instructions, options, signal, callModel } = this.#input
    const input = { client, instructions, options, signal, messages: this.#history() }
    const passed = await passAnswer(new ChatCall(run, input, callModel), answer)
    if (passed === undefined) addAll(run, answer.messages, kind)
    else run.journal.record({ kind, messages: passed.messages })
    return passed ?? answer
  }

  async #work(id: string, batch: Batch): Promise<RunEnding | undefined> {
    const run = this.#run
    this.#working = { id, batch }
    run.messages.execute(batch.calls)
    run.journal.record({ kind: 'calls', group: id })
    if (run.control?.mode === 'after-model') return cancelledPause
    if (run.keepsSteps) await saveStep(run)
    return this.#accept(id, batch, await this.#runBatch(batch))
  }

  /** Accepts the outcome of a batch. */
  async #accept(id: string, batch: Batch, outcome: BatchOutcome): Promise<RunEnding | undefined> {
    const run = this.#run
    this.#working = undefined
    run.messages.execute(none)
    const { results, pending, terminates } = outcome
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
    const contents = directAnswer(run, id)
    if (contents !== undefined) {
      await this.#say(toChatResponse({ messages: contents }, run.ids))
      return { status: 'completed', reason: 'return_direct' }
    }
    const { toolChoice } = batch.requested ?? this.#options
    return isRequired(toolChoice) ? { status: 'completed' } : undefined
  }

  #runBatch(batch: Batch): Promise<BatchOutcome> {
    const run = this.#run
    const { config } = this.#input
    const budget = config.maxFunctionCalls - run.journal.loop.functionCalls
    const { levels } = run.progress
    if (levels === undefined) return runBatch(run, batch, budget, this.#input)
    const parallel = batch.calls.length > 1 && config.maxConcurrency > 1 && !batch.oneByOne
    return levels.batch(batch.calls, parallel, () => runBatch(run, batch, budget, this.#input))
  }

  async #stop(calls: readonly FunctionCallContent[]): Promise<RunEnding> {
    const run = this.#run
    const { reason, response } = run.stopped!
    addResults(run, cancelledResults(calls, 'the run was stopped'))
    if (response !== undefined) await this.#say(toChatResponse(response, run.ids))
    return { status: 'terminated', reason }
  }
}

/** Why tools are off, if they are. `more` iterations are allowed beyond the limit. */
function limitReached(
  { maxConsecutiveErrorsPerRequest, maxFunctionCalls, maxIterations }: LoopConfiguration,
  { iteration, functionCalls, consecutiveErrors }: LoopState,
  more: number,
): 'max_consecutive_errors' | 'max_function_calls' | 'max_iterations' | undefined {
  if (consecutiveErrors >= Math.max(1, maxConsecutiveErrorsPerRequest))
    return 'max_consecutive_errors'
  if (functionCalls >= maxFunctionCalls) return 'max_function_calls'
  return iteration >= maxIterations + more ? 'max_iterations' : undefined
}

/** Reasons for which an answer ended before it was complete, and what the model reads about its calls. */
const incomplete: ReadonlyMap<string, string> = new Map([
  ['length', 'The answer was cut off at its maximum length, so the call may be incomplete.'],
  ['content-filter', 'The answer was stopped by a filter.'],
  ['error', 'The answer broke off.'],
])
/** A cancel has found its safe point. */
const cancelledPause: RunEnding = { status: 'paused', reason: 'cancelled' }
const stoppable: ReadonlySet<string> = new Set(['completed', 'max_iterations'])
const nothingWaits: ReadonlyMap<string, PendingRequest> = new Map()
