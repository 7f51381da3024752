import type {
  AgentContext,
  ChatContext,
  FunctionInvocationContext,
  Middleware,
  MiddlewareInput,
} from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { Operation } from './telemetry/operation.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import type { TracedContext, TracingEvent, TracerLike } from './base/tracing-options.ts'

/** Options of `traced`. */
export interface TracedOptions {
  /**
   * Tracer for the spans.
   * @default that of the global provider
   */
  readonly tracer?: TracerLike | undefined
  /** Called when telemetry fails. */
  readonly onEvent?: ((event: TracingEvent) => void) | undefined
}

/**
 * Gives each middleware of a list its own span, with its outcome, the number of its `callNext()`
 * calls, and their time. Use the returned list instead of the plain one: `middleware: [tracing(),
 * traced([cache()])]`.
 */
export function traced<Input extends MiddlewareInput>(
  middlewares: Input,
  options: TracedOptions = {},
): Input {
  checkOptions('traced', options, { tracer: 'any', onEvent: 'function?' })
  const telemetry = new Telemetry({
    ...options,
    metrics: false,
    log: false,
    diagnosticsChannel: false,
  })
  return wrap(middlewares, telemetry) as Input
}

function wrap(middlewares: MiddlewareInput, telemetry: Telemetry): MiddlewareInput {
  if (isList(middlewares)) return middlewares.map((middleware) => wrap(middleware, telemetry))
  const process = tracedProcess(middlewares, telemetry)
  // Whatever else the middleware has, it still has.
  return Object.create(middlewares, { process: { value: process } }) as Middleware
}

function isList(middlewares: MiddlewareInput): middlewares is readonly MiddlewareInput[] {
  return Array.isArray(middlewares)
}

/** A middleware of whatever level, as one that runs it sees it. */
type AnyMiddleware = Omit<Middleware, 'process'> & {
  process(context: Context, callNext: () => Promise<unknown>): unknown
}
type Context = AgentContext & ChatContext & FunctionInvocationContext

function tracedProcess(middleware: AnyMiddleware, telemetry: Telemetry): AnyMiddleware['process'] {
  return async (context, callNext) => {
    const waiting = telemetry.ready()
    if (waiting !== undefined) await waiting
    let calls = 0
    let insideMs = 0
    const callInside = (): Promise<unknown> => {
      calls++
      const start = performance.now()
      const done = (): void => {
        insideMs += performance.now() - start
      }
      const inside = callNext()
      inside.then(done, done)
      // The same promise: core handles a promise that a middleware does not await.
      return inside
    }
    const operation = open(middleware, context, telemetry)
    const work = async (): Promise<unknown> => middleware.process(context, callInside)
    return telemetry.watch(operation, context, work, (ending) => {
      telemetry.end(operation, {
        ...ending,
        facts: {
          'lamella.middleware.calls': calls,
          'lamella.middleware.inside_ms': insideMs,
          'lamella.short_circuit': (ending.status === 'completed' && calls === 0) || undefined,
        },
      })
    })
  }
}

function open(
  { name, level, role }: AnyMiddleware,
  { run }: TracedContext,
  telemetry: Telemetry,
): Operation {
  return telemetry.begin({
    operation: 'middleware',
    subject: name,
    run,
    facts: {
      'lamella.middleware.name': name,
      'lamella.middleware.level': level,
      'lamella.middleware.role': role,
      'lamella.run.id': run.id,
    },
  })
}
