import type {
  AgentResponse,
  AgentResponseUpdate,
  PendingRequest,
  ResponseStream,
} from '@lamella/core'
import type { ClientContent } from '../updates/client-updates.ts'
import { LamellaError, outcomeOf } from '@lamella/core'
import { callLater, systemClock } from '@lamella/core/authoring'
import { clientOutcome, clientUpdate } from '../updates/client-updates.ts'
import { failureOf } from '../http/failure-of.ts'
import { HttpFailure } from '../http/http-failure.ts'
import type { Shown, ShownRequest } from './shown.ts'

/** The chat of a run, as the run needs it. */
export interface ChatRunInit {
  /** Starts the run with this signal. */
  readonly open: (signal: AbortSignal) => ResponseStream<AgentResponseUpdate, AgentResponse>
  readonly include: ReadonlySet<ClientContent>
  /** Aborted when somebody stops the run. */
  readonly stop: AbortSignal
  /**
   * Saves the chat with the response, which is undefined if the run failed, and the open requests.
   */
  readonly save: (
    final: AgentResponse | undefined,
    open: readonly PendingRequest[],
  ) => Promise<void>
  /** Resolves to true if the chat was deleted during the run or after it. */
  readonly isDeleted: () => Promise<boolean>
  /** Returns all open requests of the chat, after it was saved. */
  readonly pending: () => Promise<readonly ShownRequest[]>
  /** Lets the next run begin. */
  readonly release: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * The output of a run of a chat for its reader. At the end, the chat is saved and free before the
 * last piece.
 */
export class ChatRun {
  readonly #init: ChatRunInit
  readonly #abort = new AbortController()
  readonly #pieces: AsyncGenerator<Shown>
  #first: Promise<IteratorResult<Shown>> | undefined
  #hasBegun = false
  #final: AgentResponse | undefined

  constructor(init: ChatRunInit) {
    this.#init = init
    this.#pieces = this.#read()
  }

  /** The response, if the run ended with one. */
  get final(): AgentResponse | undefined {
    return this.#final
  }

  /** Resolves to true if the chat was deleted during the run or after it. */
  isDeleted(): Promise<boolean> {
    return this.#init.isDeleted()
  }

  /** Resolves to the first piece without taking it, or to `undefined` if it takes longer. */
  async first(ms: number): Promise<Shown | undefined> {
    const step = await withinMs(this.#begin(), ms)
    return step?.done === true ? undefined : step?.value
  }

  /** The next piece, or `undefined` at the end. Never rejects. */
  async next(): Promise<Shown | undefined> {
    const step = this.#hasBegun && this.#first === undefined ? this.#pieces.next() : this.#begin()
    this.#first = undefined
    const { done, value } = await step
    return done === true ? undefined : value
  }

  /** Ends the run: the request to the provider is aborted, the chat is saved and free. */
  async cancel(cause: unknown): Promise<void> {
    // An error, because the run adds its progress to it.
    this.#abort.abort(new LamellaError('the reader left', { code: 'aborted', cause }))
    // A run that never began has no end.
    void this.#begin()
    await this.#pieces.return(undefined)
  }

  #begin(): Promise<IteratorResult<Shown>> {
    if (!this.#hasBegun) this.#first = this.#pieces.next()
    this.#hasBegun = true
    return this.#first ?? nothing
  }

  async *#read(): AsyncGenerator<Shown, undefined> {
    const { open, include, stop, save, pending, release, onError } = this.#init
    let isSaved = false
    let stream: ReturnType<ChatRunInit['open']> | undefined
    const end = async (): Promise<void> => {
      if (isSaved) return
      isSaved = true
      try {
        const outcome = await stream?.outcome()
        const failure = outcome?.status === 'done' ? undefined : outcomeOf(outcome?.error)
        await save(this.#final, (this.#final ?? failure)?.pending ?? [])
      } finally {
        await release()
      }
    }
    let last: Shown
    try {
      stream = open(AbortSignal.any([this.#abort.signal, stop]))
      for await (const update of stream) {
        const shown = clientUpdate(update, include)
        if (shown !== undefined) yield { type: 'update', update: shown }
      }
      this.#final = await stream.finalResponse()
      await end()
      const outcome = { ...clientOutcome(this.#final), pending: await pending() }
      last = { type: 'done', outcome, asked: new Set(this.#final.pending.map(({ id }) => id)) }
    } catch (error) {
      last = await this.#failed(error, end)
    } finally {
      await end().catch(onError)
    }
    yield last
    return undefined
  }

  async #failed(error: unknown, end: () => Promise<void>): Promise<Shown> {
    const { stop, pending, onError } = this.#init
    try {
      await end()
      if (LamellaError.is(stop.reason, 'run_stopped')) {
        const outcome = { status: 'stopped', pending: await pending() }
        return { type: 'done', outcome, asked: new Set() }
      }
    } catch (problem) {
      onError(problem)
    }
    if (!this.#abort.signal.aborted) onError(error)
    return { type: 'failed', failure: failureOf(stop.aborted ? stop.reason : error) }
  }
}

/** Resolves to the value, or to `undefined` if it takes longer. */
export async function withinMs<Value>(
  work: Promise<Value>,
  ms: number,
): Promise<Value | undefined> {
  let stopTimer: (() => void) | undefined
  const late = new Promise<undefined>((resolve) => {
    stopTimer = callLater(systemClock, ms, () => resolve(undefined))
  })
  const value = await Promise.race([work, late])
  stopTimer?.()
  return value
}

const nothing = Promise.resolve({ done: true, value: undefined } as const)

/** Returns the failure of a run that sent nothing before it. */
export function failureAtOnce(first: Shown | undefined): HttpFailure | undefined {
  if (first?.type === 'failed') return first.failure
  if (first?.type !== 'done' || first.outcome.status !== 'budget_exhausted') return undefined
  return new HttpFailure('a budget is used up', { status: 429, code: 'budget_exhausted' })
}
