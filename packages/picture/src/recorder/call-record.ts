import type {
  AgentContext,
  AgentResponseUpdate,
  ChatContext,
  ChatResponse,
  ChatResponseUpdate,
  FunctionInvocationContext,
  FunctionResult,
  UpdateTransformer,
  Usage,
} from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { errorType, exitOf, usageSince } from '@lamella/core/authoring'
import type { Level, OutLine } from '../lines/line.ts'
import { costOf } from './price-table.ts'
import type { Recording } from './recording.ts'

/** A context of whatever level. */
export type AnyContext = AgentContext | ChatContext | FunctionInvocationContext

/** The run that a call is of. */
export interface CallOwner {
  readonly recording: Recording
  readonly r: number
  /** Input of the outermost probe of the last model call. */
  lastInputs: Inputs | undefined
  /** Provider that the last model call was made to. */
  readonly provider: string | undefined
  /** Model that its client asks for unless it is told another one. */
  readonly model: string | undefined
  /** Told the client of a model call. Returns its name if it is another one than the run's. */
  setClient(client: ChatContext['client']): string | undefined
  addCost(cost: number): void
  /** Told that a tool call has ended. */
  close(call: CallRecord): void
}

/** A result of whatever level. */
type Result = ChatResponse | FunctionResult

/** Input of a probe. */
export type Inputs = Partial<Pick<ChatContext, 'messages' | 'instructions' | 'options'>> & {
  readonly arguments?: unknown
}

/** Record of the run itself, a model call or a tool call. */
export class CallRecord {
  readonly number: number
  readonly level: Level
  /** Name of the tool. */
  name: string | undefined
  readonly #run: CallOwner
  readonly #innermost: number
  /** By probe. */
  readonly #entered: number[] = []
  readonly #inputs: Inputs[] = []
  readonly #results: (Result | undefined)[] = []
  #usageBefore: Usage = {}

  constructor(run: CallOwner, level: Level, number: number, innermost: number) {
    this.#run = run
    this.level = level
    this.number = number
    this.#innermost = innermost
  }

  open(context: AnyContext): void {
    const { recording, r } = this.#run
    const { number: c } = this
    if (isFunction(context)) {
      const { name } = context.function
      const { callId } = context
      const { iteration } = context.run
      this.name = name
      recording.parts.learn([name])
      recording.add(r, () => ({
        k: 'call',
        c,
        type: 'tool',
        iteration,
        name,
        fn: recording.parts.functionCall(callId),
      }))
    } else {
      const iteration = this.level === 'chat' ? context.run.iteration : undefined
      const type = this.level === 'chat' ? 'model' : 'run'
      recording.add(r, () => ({ k: 'call', c, type, iteration }))
    }
  }

  /** Writes what a probe was given, as far as it differs. Returns how often it was entered by now. */
  enter(p: number, context: AnyContext): number {
    const { recording, r } = this.#run
    const { number: c } = this
    const n = (this.#entered[p] = (this.#entered[p] ?? 0) + 1)
    const inputs: Inputs = isFunction(context)
      ? { arguments: context.arguments }
      : { messages: context.messages, instructions: context.instructions, options: context.options }
    const outside = p > 0 ? this.#inputs[p - 1] : this.#before(inputs)
    this.#inputs[p] = inputs
    this.#results.length = Math.min(this.#results.length, p)
    let client: string | undefined
    if (p === this.#innermost && this.level === 'chat') {
      this.#usageBefore = context.run.usage
      if ('client' in context) client = this.#run.setClient(context.client)
    }

    recording.add(r, () => {
      const { requests, parts } = recording
      const options = inputs.options && requests.options(inputs.options)
      const same = outside?.options === inputs.options
      const before =
        same || outside?.options === undefined ? undefined : requests.options(outside.options)
      const isNew = !same && JSON.stringify(options) !== JSON.stringify(before)
      return {
        k: 'in',
        c,
        p,
        n: n > 1 ? n : undefined,
        messages:
          inputs.messages === undefined || inputs.messages === outside?.messages
            ? undefined
            : requests.patch(outside?.messages, inputs.messages),
        instructions:
          inputs.instructions === outside?.instructions
            ? undefined
            : inputs.instructions === undefined
              ? null
              : parts.text(inputs.instructions),
        options: isNew ? options : undefined,
        client,
        args:
          inputs.arguments === undefined || inputs.arguments === outside?.arguments
            ? undefined
            : parts.json(inputs.arguments),
      }
    })
    return n
  }

  /** Sees updates pass a probe, and changes none. */
  watch(p: number): UpdateTransformer<ChatResponseUpdate & AgentResponseUpdate> {
    const { recording, r } = this.#run
    const { number: c } = this
    const innermost = this.#innermost
    let starts = 0
    return {
      start: () => {
        if (starts++ > 0) recording.add(r, () => ({ k: 'again', c, p }))
      },
      transform: (update, controller) => {
        recording.passed(r, c, p, innermost, update)
        controller.enqueue(update)
      },
    }
  }

  returned(p: number, n: number, context: AnyContext): void {
    const result = context.result
    const inside = this.#results[p + 1]
    this.#results[p] = result
    this.#leave(p, n, result === undefined || result === inside ? {} : this.#told(result, p))
  }

  failed(p: number, n: number, context: AnyContext, error: unknown): void {
    const { recording } = this.#run
    const exit = exitOf(error, context.signal)
    const status = isProviderError(error) ? error.status : undefined
    const retryable = isProviderError(error) ? error.retry.retryable : undefined
    const message = recording.parts.hasTexts
      ? String((error as Error | undefined)?.message)
      : undefined
    const used = this.#isProvider(p) ? usageSince(context.run.usage, this.#usageBefore) : {}
    const usage = Object.keys(used).length > 0 ? used : undefined
    const fields = { exit, error: errorType(error), status, retryable, usage }
    this.#leave(p, n, () => ({
      ...fields,
      message: message === undefined ? undefined : recording.parts.text(message),
    }))
  }

  #isProvider(p: number): boolean {
    return this.level === 'chat' && p === this.#innermost
  }

  #leave(p: number, n: number, fields: (() => Partial<OutLine>) | Partial<OutLine>): void {
    const { recording, r } = this.#run
    const { number: c } = this
    recording.add(r, () => ({
      k: 'out',
      c,
      p,
      n: n > 1 ? n : undefined,
      ...(typeof fields === 'function' ? fields() : fields),
    }))
    if (p === 0) this.#run.close(this)
  }

  /** Describes a result. */
  #told(result: Result, p: number): () => Partial<OutLine> {
    const { recording } = this.#run
    if (!('messages' in result)) {
      const { contents, error } = result
      return () => ({ result: recording.parts.parts(contents), error: error?.code })
    }
    const { messages, model, usage } = result
    const finish = recording.parts.finish(result.finishReason)
    const spent = this.#isProvider(p) ? this.#pay(usage, model) : undefined
    return () => ({
      finish,
      model,
      usage: this.level === 'chat' ? usage : undefined,
      cost: spent,
      messages: recording.requests.numbers(messages),
    })
  }

  #pay(usage: Usage, model: string | undefined): number | undefined {
    const { prices } = this.#run.recording.options
    const asked = this.#inputs[this.#innermost]?.options?.model
    const { provider } = this.#run
    const cost = costOf(usage, provider, model ?? asked ?? this.#run.model, prices)
    if (cost !== undefined) this.#run.addCost(cost)
    return cost
  }

  #before(inputs: Inputs): Inputs | undefined {
    if (this.level !== 'chat') return undefined
    const last = this.#run.lastInputs
    this.#run.lastInputs = inputs
    return last
  }
}

function isFunction(context: AnyContext): context is FunctionInvocationContext {
  return 'callId' in context
}
