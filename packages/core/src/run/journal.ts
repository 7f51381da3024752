import { none } from '../base/none.ts'
import type { LoopState } from '../contract/chat-options.ts'
import type {
  Checkpoint,
  CheckpointState,
  JournalStep,
  PendingRequest,
} from '../contract/outcome.ts'
import type { Block } from '../contract/termination.ts'
import type { FunctionResultContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { errorResult } from '../messages/function-result.ts'
import { effectRounds, withoutBlocked } from '../messages/effect-rounds.ts'
import { visibleHistory } from '../messages/visible-history.ts'
import { RunConversation } from './conversation.ts'

type Step<Kind extends JournalStep['kind']> = JournalStep & { readonly kind: Kind }

/**
 * Finished steps of one run, the first one first, and what follows from them. A run that is resumed
 * applies the steps of its checkpoint in the same way as those that it records itself.
 */
export class Journal {
  readonly messages: RunConversation = new RunConversation(this)
  loop: LoopState = notBegun
  /** Answers to requests, by their position in the run. */
  answers: ReadonlyMap<string, unknown> = nothing
  /** Checkpoints of sub-agents that have not finished, by the position of their call. */
  agents: ReadonlyMap<string, Checkpoint | undefined> = nothing
  /** State at the checkpoint that the run was resumed from. */
  state: CheckpointState | undefined
  /** The loop's end, after a pause of an agent middleware. */
  end: Step<'end'> | undefined
  /** True if middleware sent requests before the pause. It repeats them and receives the answers. */
  asked = false
  /** True once the run has done something that must not happen twice. */
  acted = false
  /** True once the run has accepted an answer. */
  answered = false
  /** How the loop had begun before the pause. What was edited before that is recorded. */
  begun: Step<'begin'> | undefined
  /** Start of the middleware that paused the run before its loop. What was edited further out is recorded. */
  early: Step<'early'> | undefined
  #steps: JournalStep[] = []
  /** Calls whose tools this run has begun, and which of these are read-only. */
  #begun: Map<string, boolean> | undefined
  /** Replayed steps. Those inside unfinished model calls and tool calls are each used once. */
  #unfinished: JournalStep[] = []
  /** Number of steps when the loop was entered. */
  #entered: number | undefined

  /** Steps of the checkpoint that the run was resumed from. */
  before: readonly JournalStep[] = none

  constructor(steps?: readonly JournalStep[]) {
    if (steps !== undefined) this.restore(steps)
  }

  /** Applies the steps of the checkpoint that the run is resumed from. */
  restore(steps: readonly JournalStep[]): void {
    this.before = steps
    this.#replay(steps)
    this.acted = this.answered = false
    this.begun = steps.find((step) => step.kind === 'begin')
  }

  /** The tool of a call begins, which must not happen twice unless it is `readOnly`. */
  act(address: string, readOnly: boolean): void {
    this.acted = true
    ;(this.#begun ??= new Map()).set(address, readOnly)
  }

  /** Returns true if the tool of a call began in this run, or the call was answered. */
  isDecided(address: string): boolean {
    return this.#begun?.has(address) === true || this.answers.has(address)
  }

  /** Returns true for a call that had an effect, or used up an answer: it must not be forgotten. */
  isEffect(address: string): boolean {
    return this.#begun?.get(address) === false || this.answers.has(address)
  }

  /**
   * The result of a call whose batch did not end: its own if it has one, else what is known about it. What a
   * tool returned and middleware has not passed on is withheld.
   */
  lastResult(address: string): FunctionResult {
    const done = this.#steps.findLast(
      (step) => (step.kind === 'call' || step.kind === 'tool') && step.address === address,
    ) as Step<'call' | 'tool'> | undefined
    if (done?.kind === 'call') return done.result
    if (done !== undefined) return withheld
    return this.#begun?.has(address) ? uncertain : cancelled
  }

  get steps(): readonly JournalStep[] {
    return this.#steps
  }

  /** Ids of the groups of calls that were executed, in order. */
  get calledGroups(): readonly string[] {
    if (this.#steps.length < 2) return none
    const groups = this.#steps.flatMap((step) => (step.kind === 'calls' ? step.group : []))
    return [...new Set(groups)]
  }

  /** The rounds of tool calls in this run that must not be forgotten, without what else was said in them. */
  get effects(): readonly Message[] {
    const { done, added } = this.messages
    const rounds = effectRounds(added, (address) => this.isEffect(address))
    return done.length > 0 ? [...done, ...rounds] : rounds
  }

  /** Takes back what the run has said. Its effects stay, of a blocked run without what may have been blocked. */
  withhold(block?: Block): void {
    const { effects } = this
    this.messages.withhold(block === undefined ? effects : withoutBlocked(effects, block))
  }

  /** Requests of the checkpoint that stay open, since the run has had no effect. */
  get open(): readonly PendingRequest[] {
    return this.acted ? none : (this.state?.pending ?? none)
  }

  /** True once agent middleware has let the run in. */
  get entered(): boolean {
    return this.#entered !== undefined
  }

  /** False in a resumed run where edits are recorded: before its loop, or before the middleware that paused it there. */
  get mayEdit(): boolean {
    const { begun, early, messages } = this
    return this.entered || (begun === undefined && messages.depth >= (early?.depth ?? 0))
  }

  record(step: JournalStep): void {
    // Of a sub-agent, the last checkpoint holds all the earlier ones.
    const at = step.kind === 'agent' ? this.#placeOf(step) : -1
    if (at < 0) this.#steps.push(step)
    else this.#steps[at] = step
    const { messages } = this
    switch (step.kind) {
      case 'begin':
        return messages.begin(step.messages)
      case 'response': {
        this.acted = true
        if (this.#unfinished.length > 0) {
          this.#unfinished = this.#unfinished.filter(({ kind }) => kind !== 'model')
        }
        const { iteration, functionCalls, consecutiveErrors } = this.loop
        this.loop = { iteration: iteration + 1, functionCalls, consecutiveErrors }
        return messages.respond(step.messages)
      }
      case 'messages':
        return messages.add(step.messages)
      case 'rewrite':
        return messages.replaceAll(step.messages)
      case 'revise':
        return messages.revise(step.count, step.messages)
      case 'request':
        return messages.replace(step.message)
      case 'results': {
        this.acted = true
        const { iteration, functionCalls, consecutiveErrors } = this.loop
        this.loop = {
          iteration,
          functionCalls: functionCalls + step.executed,
          consecutiveErrors: step.failed === true ? consecutiveErrors + 1 : 0,
        }
        return messages.insert(step.at, step.message)
      }
      case 'answer':
        this.answered = true
        this.answers = new Map(this.answers).set(step.address, step.answer)
        return undefined
      case 'agent':
        this.agents = new Map(this.agents).set(step.address, step.checkpoint)
        return undefined
      case 'call':
        this.acted = true
        return undefined
      case 'end':
        this.end = step
        return undefined
      case 'early':
        this.early = step
        return undefined
      case 'state':
        this.state = step
        this.asked ||= step.pending.some(({ address }) => address.startsWith(questionMark))
        // What was said before a pause is no longer part of the response.
        if (step.paused && this.end === undefined && messages.begun) messages.settle()
        // A tool that paused the run is entered again.
        if (step.paused) this.#unfinished = this.#unfinished.filter(({ kind }) => kind !== 'start')
        return undefined
      default:
        return undefined
    }
  }

  /**
   * Begins the loop, if it has not begun before a pause. An agent middleware may enter it
   * again: then the journal continues from where it was the first time, with the calls that were open then
   * and have been executed since.
   */
  enter(begin: () => Omit<Step<'begin'>, 'kind'>): void {
    const before = this.#entered
    if (before === undefined) {
      // The steps of a checkpoint have what was done.
      this.#entered = this.#steps.length
      this.#begin(begin)
      this.messages.repeatEdits()
      return
    }
    const { effects } = this
    const later = this.#steps.slice(before)
    this.#replay(this.#steps.slice(0, before))
    this.#begin(begin)
    // The calls that were open at first: all have ended if a model has read them, else some have.
    const said = later.findIndex(({ kind }) => kind === 'response' || kind === 'messages')
    for (const step of later.slice(0, said < 0 ? Infinity : said)) {
      const { kind } = step
      if (kind === 'calls' || kind === 'answer' || (kind === 'results' && said >= 0))
        this.record(step)
      if (said >= 0 || (kind !== 'call' && kind !== 'tool')) continue
      this.#steps.push(step)
      this.#unfinished.push(step)
    }
    this.messages.repeatEdits()
    // What was done is part of the conversation, also where the loop begins again.
    const rounds = visibleHistory(effects)
    if (rounds.length > 0) this.record({ kind: 'messages', messages: rounds })
  }

  #begin(begin: () => Omit<Step<'begin'>, 'kind'>): void {
    if (!this.#steps.some(({ kind }) => kind === 'begin'))
      this.record({ kind: 'begin', ...begin() })
  }

  /** Takes out the next recorded step of an unfinished model call or tool call. */
  take<Kind extends 'model' | 'tool' | 'call'>(
    kind: Kind,
    address?: string,
  ): Step<Kind> | undefined {
    if (this.#unfinished.length === 0) return undefined
    const at = this.#unfinished.findIndex(
      (step) => step.kind === kind && (step as { address?: string }).address === address,
    )
    return at < 0 ? undefined : (this.#unfinished.splice(at, 1)[0] as Step<Kind>)
  }

  /** Returns true if the tool of a call began before a crash, and nobody knows what it did. */
  isUncertain(address: string): boolean {
    return this.#unfinished.some((step) => step.kind === 'start' && step.address === address)
  }

  #placeOf({ address }: Step<'agent'>): number {
    return this.#steps.findIndex((step) => step.kind === 'agent' && step.address === address)
  }

  #replay(steps: readonly JournalStep[]): void {
    this.#steps = []
    this.#unfinished = []
    this.loop = notBegun
    this.end = undefined
    for (const step of steps) {
      this.record(step)
      this.#unfinished.push(step)
    }
  }
}

const withheld = errorResult('withheld', 'the run ended before its result was judged')
const uncertain = errorResult('uncertain', 'the run ended while it ran')
const cancelled = errorResult('cancelled', 'the run ended')

/** Returns true for the result that a run gave a call which had not ended. Its text is the engine's own. */
export function hasNotEnded({ contents }: FunctionResultContent): boolean {
  return [withheld, uncertain, cancelled].some((result) => result.contents === contents)
}

/** Begins the position of a question that a middleware or a tool asks. */
export const questionMark = '?'

const nothing: ReadonlyMap<string, never> = new Map<string, never>()
const notBegun: LoopState = Object.freeze({ iteration: 0, functionCalls: 0, consecutiveErrors: 0 })
