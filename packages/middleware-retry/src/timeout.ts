import type {
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
  RunContext,
} from '@lamella/core'
import { ToolError } from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import {
  agentLayer,
  callWithin,
  chatLayer,
  checkOptions,
  functionLayer,
  layerRules,
  reporter,
  systemClock,
  wrongOption,
} from '@lamella/core/authoring'
import { longestTimerMs } from './backoff.ts'
import { replayOf } from './replay-of.ts'
import { watchForStall } from './stall-watch.ts'
import type { TimeoutPhase } from './timeout-error.ts'
import { TimeoutError } from './timeout-error.ts'

/** What a timeout layer tells of its work: the event `timeout` of a run. */
export interface TimeoutEvent {
  readonly phase: TimeoutPhase | 'tool'
  readonly timeoutMs: number
  /** The name of the tool, of a tool call. */
  readonly tool?: string | undefined
  /** It says what would have been done. */
  readonly shadow?: true | undefined
}

/** Options of `timeout`. All times are milliseconds; `false` sets no limit. `when` is about model calls. */
export interface TimeoutOptions extends LayerOptions<ChatContext, TimeoutEvent> {
  /**
   * Of a streamed model call, until its first update.
   * @default 30_000
   */
  readonly firstUpdateMs?: number | false | undefined
  /**
   * Of a streamed model call, between two updates, while its reader waits for one.
   * @default 60_000
   */
  readonly idleMs?: number | false | undefined
  /**
   * Of a model call as a whole, in both modes; each try of a retry layer further out has its own.
   * @default 600_000
   */
  readonly attemptMs?: number | false | undefined
  /**
   * Of the whole run, with all its model calls, tool calls and waits.
   * @default false
   */
  readonly totalMs?: number | false | undefined
  /**
   * Of each tool call; the model reads that it took too long.
   * @default false
   */
  readonly toolMs?: number | false | undefined
  /**
   * Of the calls of one tool, by its name, in place of `toolMs`.
   * @default {}
   */
  readonly tools?: Readonly<Record<string, number | false>> | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

/** The layers of a timeout. That of a whole run cannot belong to a client. */
export type TimeoutLayers<Options extends TimeoutOptions> = Options extends { totalMs: number }
  ? readonly (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[]
  : readonly (ChatMiddleware | FunctionMiddleware)[]

/**
 * Gives up, for real, on what takes too long: the request or the tool is aborted. A model call or a
 * run rejects with a `TimeoutError`, a tool call fails with the reason `timeout`.
 * @throws RangeError or TypeError that names the option and the value
 */
export function timeout<Options extends TimeoutOptions>(
  options: Options = {} as Options,
): TimeoutLayers<Options> {
  check(options)
  const { firstUpdateMs = 30_000, idleMs = 60_000, attemptMs = 600_000, totalMs, toolMs } = options
  const { name = 'timeout', mode, when, tools = {}, clock = systemClock } = options
  const within = limiter(options, clock)
  const limits = {
    firstUpdateMs: firstUpdateMs || Infinity,
    idleMs: idleMs || Infinity,
    attemptMs: attemptMs || Infinity,
  }

  const ofRun = agentLayer('timeout', { name, mode }, (context, callNext) =>
    within(context, callNext, async (over) => {
      await clock.sleep(totalMs || 0, over)
      const { provider } = context.agent.client
      const event = { phase: 'total', timeoutMs: totalMs || 0 } as const
      return { event, error: new TimeoutError(name, event, { provider }) }
    }),
  )

  const ofModelCall = chatLayer('timeout', { name, mode, when }, (context, callNext) => {
    const stalled = watchForStall(context, clock, limits)
    if (stalled === undefined) return callNext()
    return within(context, callNext, async (over) => {
      const event = await stalled(over)
      const { provider } = context.client
      const of = { provider, replay: replayOf(context.options) }
      return { event, error: new TimeoutError(name, event, of) }
    })
  })

  const ofToolCall = functionLayer('timeout', { name, mode }, (context, callNext) => {
    const tool = context.function.name
    const timeoutMs = Object.hasOwn(tools, tool) ? tools[tool] : toolMs
    if (!timeoutMs) return callNext()
    return within(context, callNext, async (over) => {
      await clock.sleep(timeoutMs, over)
      const words = `it took more than ${timeoutMs} ms`
      const event = { phase: 'tool', timeoutMs, tool } as const
      return { event, error: new ToolError(words, { reason: 'timeout' }) }
    })
  })

  const limitsTools = Boolean(toolMs) || Object.keys(tools).length > 0
  return [
    ...(totalMs ? [ofRun] : []),
    ofModelCall,
    ...(limitsTools ? [ofToolCall] : []),
  ] as TimeoutLayers<Options>
}

interface Late {
  readonly event: TimeoutEvent
  readonly error: Error
}

type Within = <Result>(
  context: { signal: AbortSignal; readonly run: RunContext },
  callNext: () => Promise<Result>,
  late: (over: AbortSignal) => Promise<Late>,
) => Promise<Result>

/** Makes the function that gives up on a call, or in shadow only says when it would have. */
function limiter({ mode, onEvent }: TimeoutOptions, clock: Clock): Within {
  const report = reporter('timeout', onEvent)
  if (mode !== 'shadow') {
    return (context, callNext, late) =>
      callWithin(context, callNext, {
        clock,
        late: async (over) => {
          const { event, error } = await late(over)
          report(context.run, event)
          return error
        },
      })
  }
  return async (context, callNext, late) => {
    const over = new AbortController()
    late(over.signal).then(
      ({ event }) => report(context.run, { ...event, shadow: true }),
      () => {},
    )
    try {
      return await callNext()
    } finally {
      over.abort()
    }
  }
}

function check(options: TimeoutOptions): void {
  checkOptions('timeout', options, {
    ...layerRules,
    firstUpdateMs: 'any',
    idleMs: 'any',
    attemptMs: 'any',
    totalMs: 'any',
    toolMs: 'any',
    tools: 'any',
    clock: 'any',
  })
  const { firstUpdateMs, idleMs, attemptMs, totalMs, toolMs, tools } = options
  const perTool = Object.entries(tools ?? {}).map(([tool, ms]) => [`tools.${tool}`, ms] as const)
  const own = Object.entries({ firstUpdateMs, idleMs, attemptMs, totalMs, toolMs })
  for (const [option, ms] of [...own, ...perTool]) {
    if (ms === undefined || ms === false) continue
    if (typeof ms === 'number' && ms > 0 && ms <= longestTimerMs) continue
    throw wrongOption('timeout', option, `false, or above 0 up to ${longestTimerMs}`, ms)
  }
}
