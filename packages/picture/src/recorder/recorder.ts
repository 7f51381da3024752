import type {
  AgentContext,
  AgentMiddleware,
  AgentResponse,
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
  Middleware,
  MiddlewareInput,
  RunContext,
} from '@lamella/core'
import { unlessAborted } from '@lamella/core/authoring'
import type { Level } from '../lines/line.ts'
import { Recording } from './recording.ts'
import type { RecorderOptions } from './recorder-options.ts'
import { checkRecorderOptions } from './recorder-options.ts'
import type { AnyContext } from './call-record.ts'
import type { NamedMiddleware } from './run-record.ts'
import { RunRecord } from './run-record.ts'

/** Middleware that a list with probes holds. */
export type RecordedMiddleware<OuterLevel extends 'agent' | 'chat'> =
  | ChatMiddleware
  | FunctionMiddleware
  | ('agent' extends OuterLevel ? AgentMiddleware : never)

/** Made by `recorder()`. */
export interface Recorder<OuterLevel extends 'agent' | 'chat' = 'agent' | 'chat'> {
  /**
   * Puts probes between the entries of a list. Use the returned list instead of the plain one; it
   * behaves the same. Probes are named `record:0`, `record:1` …, and `explain()` omits them.
   */
  middleware(list?: MiddlewareInput): readonly RecordedMiddleware<OuterLevel>[]
  /**
   * Resolves when the sink has accepted or failed everything recorded so far.
   * @throws the signal's reason as soon as it aborts
   */
  flush(signal?: AbortSignal): Promise<void>
}

/**
 * Records runs: the changes of each middleware to the request, the updates and the result, with
 * times. It does not change a run, even if recording fails.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { recorder } from '@lamella/picture'
 * import { filesIn } from '@lamella/picture/file'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const record = recorder({ sink: filesIn('runs') })
 * const client = scriptedClient(['Hi!'])
 * const agent = new Agent({ client, middleware: record.middleware() })
 * ```
 */
export function recorder<OuterLevel extends 'agent' | 'chat' = 'agent'>(
  options: RecorderOptions & { readonly level?: OuterLevel | undefined },
): Recorder<OuterLevel> {
  checkRecorderOptions(options)
  return new RunRecorder(options) as unknown as Recorder<OuterLevel>
}

class RunRecorder implements Recorder {
  readonly #options: RecorderOptions
  readonly #runs = new WeakMap<
    RunContext,
    { readonly list: object; readonly record: RunRecord | undefined }
  >()
  #runCount = 0
  readonly #unwritten = new Set<Recording>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  middleware(list: MiddlewareInput = []): readonly Middleware[] {
    const all = flatten(list)
    if (this.#options.mode === 'off') return all
    const of = (level: Level) =>
      all
        .filter((middleware) => middleware.level === level)
        .map(({ name, role }) => (role === undefined ? { name } : { name, role }))
    const named: NamedMiddleware = {
      agent: of('agent'),
      chat: of('chat'),
      function: of('function'),
    }
    const place = { agent: 0, chat: 0, function: 0 }
    const probe = (level: Level): Middleware => this.#probe(level, place[level]++, named)
    const probed = all.flatMap((middleware) => [probe(middleware.level), middleware])
    const innermost = [probe('chat'), probe('function')]
    return this.#options.level === 'chat'
      ? [...probed, ...innermost]
      : [...probed, probe('agent'), ...innermost]
  }

  async flush(signal?: AbortSignal): Promise<void> {
    const work = Promise.all([...this.#unwritten].map((recording) => recording.flush()))
    await (signal === undefined ? work : unlessAborted(signal, work))
  }

  #probe(level: Level, p: number, list: NamedMiddleware): Middleware {
    const process = async (context: AnyContext, callNext: () => Promise<unknown>) => {
      const record = this.#safely(() => this.#recordOf(context, level, p, list))
      const call = record && this.#safely(() => record.callOf(level, context))
      if (call === undefined) return void (await callNext())
      const n = this.#safely(() => call.enter(p, context)) ?? 1
      // Of a run that is not streamed, what passes at the end is the result, and to watch it would keep
      // the part of it that is there when the run fails from its error.
      if ('transformUpdates' in context && (level === 'chat' || context.stream))
        context.transformUpdates(call.watch(p))
      const isOutermost = level === 'agent' && p === 0
      try {
        await callNext()
      } catch (error) {
        this.#safely(() => {
          call.failed(p, n, context, error)
          if (isOutermost) record!.end(context.run, { error }, context.signal)
        })
        throw error
      }
      this.#safely(() => {
        call.returned(p, n, context)
        const response = context.result as AgentResponse
        if (isOutermost) record!.end(context.run, { response }, context.signal)
      })
    }
    return { level, name: `record:${p}`, role: 'probe', process }
  }

  /** Returns the record of a run that the probes of one list share. The first probe makes it. */
  #recordOf(
    context: AnyContext,
    level: Level,
    p: number,
    list: NamedMiddleware,
  ): RunRecord | undefined {
    const { run } = context
    const known = this.#runs.get(run)
    if (known !== undefined) return known.list === list ? known.record : undefined
    // In the middle of a run, as after a list that is not recorded, there is nothing to compare with.
    if (p > 0 || level === 'function') return undefined
    const record = this.#begin(context as AgentContext | ChatContext, list)
    this.#runs.set(run, { list, record })
    record?.begin(context, level === 'agent' ? 'agent' : 'chat')
    return record
  }

  #begin(context: AgentContext | ChatContext, list: NamedMiddleware): RunRecord | undefined {
    const { when } = this.#options
    if (when !== undefined && !when(context)) return undefined
    const { run } = context
    const parent = run.parent && this.#runs.get(run.parent)?.record
    const recording = parent?.recording ?? this.#recording(run)
    return new RunRecord(recording, ++this.#runCount, list, parent)
  }

  #recording({ id, agentName: agent }: RunContext): Recording {
    const run = { id, agent, at: new Date().toISOString() }
    return new Recording(this.#options, run, this.#unwritten, (error) => this.#failed(error))
  }

  #safely<Value>(work: () => Value): Value | undefined {
    try {
      return work()
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  #failed(error: unknown): void {
    try {
      this.#options.onEvent?.({ status: 'error', error })
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

function flatten(list: MiddlewareInput): Middleware[] {
  return isList(list) ? list.flatMap(flatten) : [list]
}

function isList(list: MiddlewareInput): list is readonly MiddlewareInput[] {
  return Array.isArray(list)
}
