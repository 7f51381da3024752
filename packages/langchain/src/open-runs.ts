import type {
  AgentContext,
  AgentMiddleware,
  AgentResponse,
  AgentResponseUpdate,
  ChatResponse,
  MessageInput,
  ResponseStream,
  RunContext,
  Session,
} from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { agentPipeline } from '@lamella/core/authoring'
import { nobody } from './model-client.ts'
import type { RunInput } from './run-input.ts'

/** Input and owner of a run. */
export interface Beginning extends RunInput {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly session?: Session | undefined
  readonly data?: unknown
  readonly signal: AbortSignal | undefined
}

/** End of a model call: its answer, or the run if middleware has ended that. */
export type CallEnd = { readonly response: ChatResponse } | { readonly ended: AgentResponse }

/**
 * A run of Lamella around a run of LangChain, which tells of a beginning and an end, but has no function
 * around both. Updates of model calls come through the stream of the run, so that the middleware around the
 * run transforms them.
 */
export class OpenRun {
  /** Input that the run began with. */
  readonly given: RunInput
  /** Settles when the first call may begin. */
  readonly begun: Promise<{ readonly run: RunContext; readonly input: RunInput }>
  readonly #answer = deferred<ChatResponse>()
  readonly #stream: ResponseStream<AgentResponseUpdate, AgentResponse>
  readonly #updates: AsyncIterator<AgentResponseUpdate>
  #next: Promise<IteratorResult<AgentResponseUpdate>> | undefined
  #add: ((messages: MessageInput) => void) | undefined

  constructor(pipeline: ReturnType<typeof agentPipeline>, beginning: Beginning) {
    const begun = deferred<Awaited<OpenRun['begun']>>()
    this.given = beginning
    this.begun = begun.promise
    this.#stream = pipeline.stream(
      { ...beginning, client: nobody },
      (context: AgentContext, add) => {
        this.#add = add
        const { run, messages, instructions } = context
        begun.resolve({ run, input: { messages, instructions } })
        return this.#answer.promise
      },
    )
    this.#updates = this.#stream[Symbol.asyncIterator]()
    this.#answer.promise.catch(() => {})
    this.begun.catch(() => {})
  }

  /** Begins the run if it has not begun, and resolves to it. */
  async context(): Promise<RunContext> {
    const begun = await Promise.race([this.begun, this.#pull().then(() => undefined)])
    if (begun === undefined) throw new LamellaError('the run has ended', { code: 'run_stopped' })
    return begun.run
  }

  /** Makes a model call of the run, and yields its updates. An answer without tool calls ends the run. */
  async *call(
    start: (begun: Awaited<OpenRun['begun']>) => Promise<ChatResponse>,
  ): AsyncGenerator<AgentResponseUpdate, CallEnd> {
    const call = this.begun.then(start)
    const made = call.then((response) => ({ response }))
    made.catch(() => {})
    for (;;) {
      const step = await Promise.race([this.#pull(), made])
      if ('response' in step) {
        const { response } = step
        this.#add?.(response.messages)
        if (response.functionCalls.length > 0) return { response }
        break
      }
      this.#next = undefined
      if (step.done === true) return { ended: await this.#stream.finalResponse() }
      yield step.value
    }
    const { response } = await made
    yield* this.end(response)
    return { response }
  }

  /** Notes the result of a tool call. */
  add(messages: MessageInput): void {
    this.#add?.(messages)
  }

  /** Ends the run, and yields what its middleware has held back. */
  end(answer: ChatResponse): AsyncGenerator<AgentResponseUpdate, void> {
    this.#answer.resolve(answer)
    return this.#rest()
  }

  /** Ends the run by an error, which its middleware sees. */
  async fail(error: unknown): Promise<void> {
    this.#answer.reject(error)
    try {
      for await (const _ of this.#rest());
    } catch {
      // The caller has the error.
    }
  }

  async *#rest(): AsyncGenerator<AgentResponseUpdate, void> {
    for (;;) {
      const { done, value } = await this.#pull()
      this.#next = undefined
      if (done === true) return
      yield value
    }
  }

  #pull(): Promise<IteratorResult<AgentResponseUpdate>> {
    return (this.#next ??= this.#updates.next())
  }
}

/** The runs that have begun and not ended, by the id that LangChain's state has. */
export class OpenRuns {
  readonly #pipeline: ReturnType<typeof agentPipeline>
  readonly #max: number
  readonly #open = new Map<string, OpenRun>()

  constructor(middleware: readonly AgentMiddleware[], max: number) {
    this.#pipeline = agentPipeline(middleware)
    this.#max = max
  }

  /** The open run of an id, or a new one. */
  at(id: string, beginning: () => Beginning): OpenRun {
    const known = this.#open.get(id) ?? new OpenRun(this.#pipeline, beginning())
    this.#open.set(id, known)
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= this.#max) break
      void this.fail(oldest, tooMany())
    }
    return known
  }

  /** Removes a run that has ended. */
  delete(id: string): OpenRun | undefined {
    const run = this.#open.get(id)
    this.#open.delete(id)
    return run
  }

  async fail(id: string, error: unknown): Promise<void> {
    await this.delete(id)?.fail(error)
  }
}

function tooMany(): LamellaError {
  return new LamellaError('lamellaMiddleware: there are more open runs than `maxOpenRuns`', {
    code: 'run_stopped',
  })
}

interface Deferred<Value> {
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(reason: unknown): void
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function deferred<Value>(): Deferred<Value> {
  let settle!: Omit<Deferred<Value>, 'promise'>
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }))
  return { promise, ...settle }
}
