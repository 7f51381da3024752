import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import { ResponseFold } from './response-fold.ts'
import type { Run, RunInit } from './run.ts'
import type { StreamFold, StreamSource } from './stream-source.ts'
import type { Failure } from './update-pump.ts'
import { UpdatePump } from './update-pump.ts'

/** Connects a run to the stream that its caller reads. The run starts with the first pull. */
export class PumpSource<Response extends ChatResponse> implements StreamSource<AgentResponseUpdate, Response> {
  readonly #pump: UpdatePump<AgentResponseUpdate>
  readonly #run: Run
  #response: Response | undefined

  constructor(
    makeRun: (sink: RunInit['sink']) => Run,
    execute: (run: Run) => Promise<Response>,
  ) {
    this.#pump = new UpdatePump(async () => {
      const run = this.#run
      run.signal.addEventListener('abort', () => void this.#pump.cancel(run.signal.reason))
      this.#response = await execute(run)
    })
    this.#run = makeRun(this.#pump)
  }

  set onEnd(end: (failure: Failure | undefined) => Promise<void>) {
    this.#pump.onEnd = end
  }

  get busy(): boolean {
    return this.#pump.busy
  }

  next(): Promise<IteratorResult<AgentResponseUpdate>> {
    return this.#pump.next()
  }

  async cancel(reason: unknown): Promise<void> {
    this.#run.abort(reason)
    await this.#pump.cancel(reason)
  }

  final(): Response {
    return this.#response!
  }

  partial(): Response | undefined {
    return this.#run.partial?.response() as Response | undefined
  }

  fold(): StreamFold<AgentResponseUpdate, Response> {
    const fold = new ResponseFold()
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
