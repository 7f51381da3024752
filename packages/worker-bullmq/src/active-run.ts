import type {
  Agent,
  AgentResponse,
  CancelMode,
  Checkpoint,
  Message,
  ResponseStream,
  AgentResponseUpdate,
  Session,
} from '@lamella/core'
import { chatResponse, LamellaError, RunControl, toUpdates } from '@lamella/core'
import { cancelledOutcome, outcomeOfError, outcomeOfResponse } from './run-outcome.ts'
import type { RunOutcome } from './run-record.ts'
import type { ClaimedRun, RunStore } from './run-store.ts'
import { UpdateWriter } from './update-writer.ts'

/** End of a worker's part: the run has an outcome, another worker continues it, or another one may still have it. */
export type RunEnd =
  | 'handed-over'
  | 'busy'
  | { readonly outcome: RunOutcome; readonly session: Session | undefined }

/** A run that this worker works on. */
export class ActiveRun {
  readonly jobId: string
  readonly claimed: ClaimedRun
  readonly #store: RunStore
  readonly #owner: string
  readonly #lockMs: number
  readonly #control = new RunControl()
  readonly #writer: UpdateWriter
  readonly #runId: string
  /** Text of the run before it was paused or returned to the queue. */
  readonly #before: readonly Message[]
  /** Reason for its end. */
  #ending: 'cancelled' | 'handed-over' | 'lost' | undefined
  #stream: ResponseStream<AgentResponseUpdate, AgentResponse> | undefined

  constructor(
    store: RunStore,
    jobId: string,
    owner: string,
    claimed: ClaimedRun,
    { flushMs = 20, lockMs }: { readonly flushMs?: number | undefined; readonly lockMs: number },
  ) {
    this.#lockMs = lockMs
    this.#store = store
    this.jobId = jobId
    this.#owner = owner
    this.claimed = claimed
    this.#runId = claimed.request.runId!
    this.#writer = new UpdateWriter(store, this.#runId, owner, flushMs)
    this.#before = claimed.before
    if (claimed.cancel !== undefined) this.cancel(claimed.cancel as CancelMode)
  }

  cancel(mode: CancelMode): void {
    this.#ending ??= 'cancelled'
    void this.#control.cancel({ mode })
  }

  /** Stops the run at its next safe point, so that another worker can continue it. */
  handOver(timeoutMs: number): void {
    this.#ending ??= 'handed-over'
    void this.#control.cancel({ mode: 'after-model', timeoutMs })
  }

  /** Another worker may have taken it over. */
  lose(): void {
    this.#ending ??= 'lost'
    void this.#control.cancel()
  }

  respond(id: string, value: unknown): void {
    this.#stream?.respond(id, value)
  }

  async execute(agent: Agent, session: Session | undefined): Promise<RunEnd> {
    const stream = this.#start(agent, session)
    this.#stream = stream
    try {
      if (this.claimed.deliveries > 1) this.#catchUp()
      for await (const update of stream) this.#writer.write(update)
      const response = await stream.finalResponse()
      await this.#writer.flush()
      const { status, reason, checkpoint, messages } = response
      if (status === 'paused' && this.#ending === 'cancelled') return await this.#end(response)
      if (status !== 'paused' || reason !== 'cancelled')
        return await this.#finish(response, session)
      const before = [...this.#before, ...messages]
      return await this.#putBack({ checkpoint, before, sessionState: session?.state })
    } catch (error) {
      await this.#writer.flush()
      // A worker that lost its lock leaves the run to the next one, and has not failed.
      if (this.#ending === 'lost' || LamellaError.is(error, 'run_active')) {
        await this.#putBack()
        return 'busy'
      }
      if (!this.#control.mode || this.#control.mode !== 'now') throw error
      if (this.#ending === 'cancelled') return this.#end(undefined)
      // A run that is cut off continues from the last stored step.
      if (this.#ending === 'handed-over') return this.#putBack()
      throw error
    }
  }

  /** Stores the failure of the last attempt; earlier failures are left to the next attempt. */
  async fail(error: unknown, isLast: boolean): Promise<RunOutcome | undefined> {
    const { outcome, isRetried } = outcomeOfError(error, this.#runId)
    if (isRetried && !isLast) {
      await this.#store.putBack(this.#runId, this.#owner)
      return undefined
    }
    await this.#store.finish(this.#runId, this.#owner, outcome, {})
    return outcome
  }

  #start(agent: Agent, session: Session | undefined) {
    const { request, checkpoint, answers } = this.claimed
    const options = {
      stream: true,
      runId: this.#runId,
      idempotencyKey: keyOfStretch(this.#store.keyOf(this.#runId), checkpoint),
      session,
      tenant: request.tenant,
      principal: request.principal,
      data: request.data,
      control: this.#control,
      onCheckpoint: (step: Checkpoint) =>
        this.#saveStep({ checkpoint: step, sessionState: session?.state }),
    } as const
    return checkpoint === undefined
      ? agent.run(typeof request.input === 'string' ? request.input : [...request.input], options)
      : agent.resume(checkpoint, answers, options)
  }

  /**
   * A tool call begins when its start is saved. If saving took so long that another worker may have the run, it is
   * saved again, which fails then.
   */
  async #saveStep(kept: Pick<ClaimedRun, 'checkpoint' | 'sessionState'>): Promise<void> {
    const sentAt = Date.now()
    await this.#store.saveStep(this.#runId, this.#owner, kept)
    // BullMQ renews a lock when half of its time is over.
    if (Date.now() - sentAt > this.#lockMs / 2) await this.#saveStep(kept)
  }

  /** Makes subscribers discard updates after the step that the run continues from. */
  #catchUp(): void {
    this.#writer.write({ contents: [], restart: true, scope: 'run' })
    for (const update of toUpdates(chatResponse({ messages: this.#before })))
      this.#writer.write(update)
  }

  async #finish(response: AgentResponse, session: Session | undefined): Promise<RunEnd> {
    const { outcome } = outcomeOfResponse(response, this.#before)
    const { checkpoint } = response
    const said = toUpdates(response)
    const kept = { checkpoint, session: session?.toJSON(), said }
    if (!(await this.#store.finish(this.#runId, this.#owner, outcome, kept)))
      return this.#end(response)
    return { outcome, session }
  }

  async #end(response: AgentResponse | undefined): Promise<RunEnd> {
    const outcome = cancelledOutcome(this.#runId, response, this.#before)
    await this.#store.finish(this.#runId, this.#owner, outcome, {})
    return { outcome, session: undefined }
  }

  async #putBack(
    from?: Pick<ClaimedRun, 'checkpoint' | 'before' | 'sessionState'>,
  ): Promise<RunEnd> {
    await this.#store.putBack(this.#runId, this.#owner, from)
    return 'handed-over'
  }
}

/** One key from the start of a run, or a pause, to its next end: a worker that takes over continues that part. */
function keyOfStretch(run: string, checkpoint: Checkpoint | undefined): string {
  const pause = checkpoint?.journal.findLast((step) => step.kind === 'state' && step.paused)
  return pause?.kind === 'state' ? `${run}/${pause.id}` : run
}
