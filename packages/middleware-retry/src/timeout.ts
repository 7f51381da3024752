import type {
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
  RunContext,
} from '@lamella/core'
import { ToolError } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineAgentMiddleware,
  callWithin,
  defineChatMiddleware,
  checkOptions,
  checkTimeLimit,
  defineFunctionMiddleware,
  middlewareRules,
  reporter,
} from '@lamella/core/authoring'
import { replayOf } from './call-options.ts'
import { watchForStall } from './stall-watch.ts'
import type { TimeoutPhase } from './timeout-error.ts'
import { TimeoutError } from './timeout-error.ts'

/** Data of the run event `timeout`. */
export interface TimeoutEvent {
  /** Limit that was exceeded. */
  readonly phase: TimeoutPhase | 'tool'
  /** Value of that limit, in milliseconds. */
  readonly timeoutMs: number
  /** Name of the tool, for a tool call. */
  readonly tool?: string | undefined
  /** True in shadow mode: the event tells what would have been done. */
  readonly shadow?: true | undefined
}

/**
 * Options of `timeout`. Times are in milliseconds; `false` sets no limit. `when` chooses model calls.
 */
export interface TimeoutOptions extends MiddlewareOptions<ChatContext, TimeoutEvent> {
  /**
   * Time limit for the first update of a streamed model call.
   * @default 30_000
   */
  readonly firstUpdateMs?: number | false | undefined
  /**
   * Time limit between two updates of a streamed model call, while its reader waits for one.
   * @default 60_000
   */
  readonly idleMs?: number | false | undefined
  /**
   * Time limit for a model call as a whole, plain or streamed. Each try of an outer retry middleware has
   * its own.
   * @default 600_000
   */
  readonly attemptMs?: number | false | undefined
  /**
   * Time limit for the whole run, with all its model calls, tool calls and waits.
   * @default false
   */
  readonly totalMs?: number | false | undefined
  /**
   * Time limit for each tool call. The model reads that the call took too long.
   * @default false
   */
  readonly toolMs?: number | false | undefined
  /**
   * Time limits for the calls of single tools by name, overriding `toolMs`.
   * @default {}
   */
  readonly tools?: Readonly<Record<string, number | false>> | undefined
  /**
   * Source of time and sleep.
   * @default the run's clock
   */
  readonly clock?: Clock | undefined
}

/**
 * Middleware that `timeout` returns. With `totalMs` one is for agents, so a client cannot take the
 * list.
 */
export type TimeoutMiddlewares<Options extends TimeoutOptions> = Options extends { totalMs: number }
  ? readonly (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[]
  : readonly (ChatMiddleware | FunctionMiddleware)[]

/**
 * Aborts requests and tools that take too long. A model call or a run rejects with a `TimeoutError`; a
 * tool call fails with the reason `timeout`.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { timeout } from '@lamella/middleware-retry'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = timeout({ attemptMs: 60_000, tools: { search: 10_000 } })
 * const agent = new Agent({ client: scriptedClient(['It is sunny.']), middleware })
 * await agent.run('How is Rome?')
 * ```
 */
export function timeout<Options extends TimeoutOptions>(
  options: Options = {} as Options,
): TimeoutMiddlewares<Options> {
  check(options)
  const { firstUpdateMs = 30_000, idleMs = 60_000, attemptMs = 600_000, totalMs, toolMs } = options
  const { name = 'timeout', mode, when, tools = {} } = options
  const within = limiter(options)
  const clockOf = ({ clock }: RunContext): Clock => options.clock ?? clock
  const limits = {
    firstUpdateMs: firstUpdateMs || Infinity,
    idleMs: idleMs || Infinity,
    attemptMs: attemptMs || Infinity,
  }

  const ofRun = defineAgentMiddleware('timeout', { name, mode }, (context, callNext) =>
    within(context, callNext, async (over) => {
      await clockOf(context.run).sleep(totalMs || 0, over, true)
      const { provider } = context.agent.client
      const event = { phase: 'total', timeoutMs: totalMs || 0 } as const
      return { event, error: new TimeoutError(name, event, { provider }) }
    }),
  )

  const ofModelCall = defineChatMiddleware('timeout', { name, mode, when }, (context, callNext) => {
    const stalled = watchForStall(context, clockOf(context.run), limits)
    if (stalled === undefined) return callNext()
    return within(context, callNext, async (over) => {
      const event = await stalled(over)
      const { provider } = context.client
      const of = { provider, replay: replayOf(context.options) }
      return { event, error: new TimeoutError(name, event, of) }
    })
  })

  const ofToolCall = defineFunctionMiddleware('timeout', { name, mode }, (context, callNext) => {
    const tool = context.function.name
    const timeoutMs = Object.hasOwn(tools, tool) ? tools[tool] : toolMs
    if (!timeoutMs) return callNext()
    return within(context, callNext, async (over) => {
      await clockOf(context.run).sleep(timeoutMs, over, true)
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
  ] as TimeoutMiddlewares<Options>
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

/** Makes the function that ends a late call; in shadow mode it only reports the call. */
function limiter({ mode, onEvent, clock }: TimeoutOptions): Within {
  const report = reporter('timeout', onEvent)
  if (mode !== 'shadow') {
    return (context, callNext, late) =>
      callWithin(context, callNext, {
        clock: clock ?? context.run.clock,
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
      // With a reason, since `abort` makes an error with a stack without one.
      over.abort('ended')
    }
  }
}

function check(options: TimeoutOptions): void {
  checkOptions('timeout', options, {
    ...middlewareRules,
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
    if (ms !== false) checkTimeLimit('timeout', option, ms)
  }
}
