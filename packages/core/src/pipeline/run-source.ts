import type { AgentResponse, AgentResponseUpdate } from '../contract/outcome.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { chatResponse } from '../messages/chat-response.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import type { FailedOutcome } from '../run/failed-outcome.ts'
import { attachOutcome, outcomeOf } from '../run/failed-outcome.ts'
import type { Run, RunInit } from '../run/run.ts'
import { StreamDriver } from '../stream/stream-driver.ts'
import type { StreamFailure } from '../stream/stream-outcome.ts'
import { endedBy } from '../stream/stream-outcome.ts'
import type { StreamFold, StreamSource } from '../stream/stream-source.ts'
import type { Failure } from '../stream/update-sink.ts'

/** Connects a run to the stream that its caller reads. The run starts with the first pull. */
export class PumpSource<Response extends ChatResponse>
  implements StreamSource<AgentResponseUpdate, Response>
{
  readonly #pump: StreamDriver<AgentResponseUpdate>
  readonly #run: Run
  #response: Response | undefined
  #outcome: FailedOutcome | undefined

  constructor(makeRun: (sink: RunInit['sink']) => Run, execute: (run: Run) => Promise<Response>) {
    this.#pump = new StreamDriver(async () => {
      const run = this.#run
      run.signal.addEventListener('abort', () => void this.#pump.cancel(run.signal.reason))
      try {
        this.#response = await execute(run)
      } catch (error) {
        // What was thrown may be no object, or be thrown by other runs too.
        this.#outcome = outcomeOf(error) ?? outcomeOf(attachOutcome({}, run))
        throw error
      }
    })
    this.#run = makeRun(this.#pump)
  }

  set onEnd(end: (failure: Failure | undefined) => Promise<void>) {
    this.#pump.onEnd = end
  }

  get busy(): boolean {
    return this.#pump.busy
  }

  readonly next = (): Promise<IteratorResult<AgentResponseUpdate>> => this.#pump.next()

  async cancel(reason: unknown): Promise<void> {
    this.#run.abort(reason)
    await this.#pump.cancel(reason)
  }

  final(): Response {
    return this.#response!
  }

  failure(error: unknown): StreamFailure<Response> {
    return endedBy(error, { isAborted: this.#run.signal.aborted, partial: this.#partial() })
  }

  #partial(): Partial<Response> | undefined {
    const { messages, usage, attempts } = this.#outcome ?? noOutcome
    if (messages.length === 0) return undefined
    const { id, model } = this.#run.partial?.response() ?? {}
    const partial: Partial<AgentResponse> = {
      ...chatResponse({ id, model, messages, usage }),
      runId: this.#run.id,
      attempts,
    }
    return partial as Partial<Response>
  }

  fold(): StreamFold<AgentResponseUpdate, Response> {
    const fold = new ResponseFold(this.#run.ids)
    return {
      add: (update) => fold.add(update),
      finish: (base) => {
        const { messages, text, functionCalls } = fold.response()
        const { raw: _raw, ...kept } = base!
        return { ...kept, messages, text, functionCalls } as Response
      },
    }
  }

  respond(id: string, value: unknown): boolean {
    return this.#run.respond(id, value)
  }
}

const noOutcome = { messages: [], usage: {}, attempts: [] } satisfies Partial<FailedOutcome>
