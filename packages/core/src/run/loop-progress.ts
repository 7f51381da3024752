import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { ResponseFormat } from '../contract/chat-options.ts'
import type { InputGate } from '../contract/run.ts'
import type { Message } from '../messages/message.ts'
import type { Journal } from './journal.ts'
import type { LoopLevels } from './loop-levels.ts'

/** An edit after the loop, which counts only if the loop runs again. */
export interface LateEdit {
  readonly what: string
  /** Depth of the agent middleware. */
  readonly depth: number
}

/** A model call whose request is open. */
interface OpenRequest {
  /** Cancels the request. */
  cancelInside(error: unknown): void
}

/** How far a run is: before, in or after its loop, and in which iteration of it. */
export class LoopProgress {
  readonly #journal: Journal
  /** `early` until the loop begins, `looped` once it has ended, `over` once the run has. */
  phase: 'early' | 'looping' | 'looped' | 'over' = 'early'
  iteration = 0
  /** Position of the running middleware: around the run, or inside a model call or tool call. */
  position: string | number = 'run'
  /** The first edit since the loop ended. */
  lateEdit: LateEdit | undefined
  /** How often an agent middleware has ended while the loop inside it was running. */
  cancellations = 0
  /** Provider of the current model call, once it has a request. */
  servedBy: string | undefined
  /** Response format of the last request. */
  responseFormat: ResponseFormat | undefined
  /** Middleware around iterations and tool batches, if there is any. */
  levels: LoopLevels | undefined
  #request: OpenRequest | undefined
  /** Gates of messages that join the run, each with the depth of the agent middleware that has added it. */
  #gates: { readonly depth: number; readonly gate: InputGate }[] | undefined

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** The agent middleware at `depth` runs, and what is inside it begins anew. */
  enter(depth: number): void {
    this.#journal.messages.enter(depth)
    this.levels?.enter(depth)
    this.#gates = this.#gates?.filter((one) => one.depth < depth)
  }

  /** Messages that join the run pass this gate, too, behind the earlier ones. */
  gateInput(gate: InputGate): void {
    this.noteEdit('gateInput()')
    ;(this.#gates ??= []).push({ depth: this.#journal.messages.depth, gate })
  }

  /** Passes messages through the gates. */
  async judged(messages: readonly Message[]): Promise<readonly Message[]> {
    let judged = messages
    for (const { gate } of this.#gates ?? []) judged = await gate(judged)
    return judged
  }

  /** Takes over the progress of another run, which repeats a model call in this one. */
  repeat({ iteration }: LoopProgress): void {
    this.iteration = iteration
  }

  /** The loop begins, or again. Edits of what it works with count from here on. */
  enterLoop(begin: Parameters<Journal['enter']>[0]): void {
    const journal = this.#journal
    this.phase = 'looping'
    this.lateEdit = undefined
    journal.enter(begin)
    this.iteration = Math.max(0, journal.loop.iteration - 1)
  }

  /** The next iteration of the loop begins. */
  beginIteration(): void {
    this.iteration = this.position = this.#journal.loop.iteration
    this.servedBy = undefined
  }

  /** Middleware at `position` runs. */
  moveTo(position: string | number): void {
    this.position = position
  }

  /** A model call sends its request, or has sent it before a pause. */
  beginRequest(call: OpenRequest, provider: string, format?: ResponseFormat): void {
    this.#request = call
    this.servedBy = provider
    this.responseFormat = format
  }

  /** An agent middleware has ended while the loop inside it was running, which stops at its next step. */
  cancelLoop(error: unknown): void {
    this.cancellations++
    this.#request?.cancelInside(error)
  }

  /** The loop has ended, for the agent middleware outside `depth`. */
  leaveLoop(depth: number): void {
    this.phase = 'looped'
    this.#journal.messages.leave(depth)
  }

  /**
   * Returns the levels around iterations and tool batches, for more middleware there.
   * @throws MiddlewareContractError while the loop runs, and after the run
   */
  intercept(make: () => LoopLevels): LoopLevels {
    if (this.phase === 'looping') {
      throw new MiddlewareContractError('', 'interceptLoop() was called while the loop runs')
    }
    this.noteEdit('interceptLoop()')
    return (this.levels ??= make())
  }

  /** The run has ended. */
  end(): void {
    this.phase = 'over'
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
    this.lateEdit ??= { what, depth: this.#journal.messages.depth }
  }
}
