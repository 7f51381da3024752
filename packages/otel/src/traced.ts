import type {
  AgentContext,
  ChatContext,
  FunctionInvocationContext,
  Middleware,
  MiddlewareInput,
} from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { Operation } from './operation.ts'
import { Telemetry } from './telemetry.ts'
import type { TracedContext, TracingEvent, TracerLike } from './tracing-options.ts'

export interface TracedOptions {
  /** @default that of the global provider */
  readonly tracer?: TracerLike | undefined
  /** Told when telemetry fails. */
  readonly onEvent?: ((event: TracingEvent) => void) | undefined
}

/**
 * Gives each layer of a list a span of its own: how it ended, how often it called its inside, and how
 * long that took. The list goes where the plain one was: `middleware: [tracing(), traced([cache()])]`.
 */
export function traced<Input extends MiddlewareInput>(
  layers: Input,
  options: TracedOptions = {},
): Input {
  checkOptions('traced', options, { tracer: 'any', onEvent: 'function?' })
  const telemetry = new Telemetry({
    ...options,
    metrics: false,
    log: false,
    diagnosticsChannel: false,
  })
  return wrap(layers, telemetry) as Input
}

function wrap(layers: MiddlewareInput, telemetry: Telemetry): MiddlewareInput {
  if (isList(layers)) return layers.map((layer) => wrap(layer, telemetry))
  const process = tracedProcess(layers, telemetry)
  // Whatever else the layer has, it still has.
  return Object.create(layers, { process: { value: process } }) as Middleware
}

function isList(layers: MiddlewareInput): layers is readonly MiddlewareInput[] {
  return Array.isArray(layers)
}

/** A layer of whatever level, as one that runs it sees it. */
type AnyLayer = Omit<Middleware, 'process'> & {
  process(context: Context, callNext: () => Promise<unknown>): void | Promise<unknown>
}
type Context = AgentContext & ChatContext & FunctionInvocationContext

function tracedProcess(layer: AnyLayer, telemetry: Telemetry): AnyLayer['process'] {
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
      // The very promise that was given: who lets go of it may count on what core does about that.
      return inside
    }
    const operation = open(layer, context, telemetry)
    const work = async (): Promise<unknown> => layer.process(context, callInside)
    await telemetry.watch(operation, context, work, (ending) => {
      telemetry.end(operation, {
        ...ending,
        facts: {
          'lamella.layer.calls': calls,
          'lamella.layer.inside_ms': insideMs,
          'lamella.short_circuit': (ending.status === 'completed' && calls === 0) || undefined,
        },
      })
    })
  }
}

function open(
  { name, level, role }: AnyLayer,
  { run }: TracedContext,
  telemetry: Telemetry,
): Operation {
  return telemetry.begin({
    operation: 'layer',
    subject: name,
    run,
    facts: {
      'lamella.layer.name': name,
      'lamella.layer.level': level,
      'lamella.layer.role': role,
      'lamella.run.id': run.id,
    },
  })
}
