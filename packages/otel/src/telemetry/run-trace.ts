import type { ChatClient, RunContext, Usage } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'
import type { SpanContext } from '@opentelemetry/api'
import type { HeldEnds, Operation } from './operation.ts'
import type { Telemetry } from './telemetry.ts'

/** State that the parts of one `tracing()` share in a run. */
export interface RunTrace {
  readonly operation: Operation
  /** The current model call. */
  call: Operation | undefined
  /** True once the run has begun a model call. */
  hasCalled: boolean
  /** The run's own client. */
  readonly client: ChatClient | undefined
  readonly captures: boolean
  cost: number
  /** Usage of calls that middleware made for itself. They have their own spans. */
  internalUsage: Usage
  /**
   * Ends of spans that wait for the end of the run: only then is it known if a guardrail has
   * blocked it.
   */
  readonly held: HeldEnds
}

const traces = defineState<Map<Telemetry, RunTrace>>({
  name: 'lamella.otel',
  initial: () => new Map(),
})

export function newTrace(
  { capture }: Telemetry,
  operation: Operation,
  run: RunContext,
  client: ChatClient | undefined,
): RunTrace {
  return {
    operation,
    call: undefined,
    hasCalled: false,
    client,
    captures: operation.span?.isRecording() === true && capture.decide(run),
    cost: 0,
    internalUsage: {},
    held: [],
  }
}

export function traceOf(run: RunContext, telemetry: Telemetry): RunTrace | undefined {
  return run.state.get(traces).get(telemetry)
}

export function keepTrace(run: RunContext, telemetry: Telemetry, trace: RunTrace): void {
  run.state.get(traces).set(telemetry, trace)
}

/** The spans of a run's parts, by the name of the middleware. They are in its checkpoints. */
const parts = defineState<Readonly<Record<string, readonly SpanContext[]>>>({
  name: 'lamella.otel.parts',
  initial: () => ({}),
  schema: jsonSchema({
    type: 'object',
    additionalProperties: {
      type: 'array',
      items: {
        type: 'object',
        required: ['traceId', 'spanId', 'traceFlags'],
        properties: {
          traceId: { type: 'string', pattern: '^[0-9a-f]{32}$' },
          spanId: { type: 'string', pattern: '^[0-9a-f]{16}$' },
          traceFlags: { type: 'integer' },
        },
      },
    },
  }),
})

/** The same as this part of the run found them. */
const found = defineState<Map<string, readonly SpanContext[]>>({
  name: 'lamella.otel.found',
  initial: () => new Map(),
})

/** Returns the spans of the run before it was resumed, the first part first. */
export function earlierParts(run: RunContext, name: string): readonly SpanContext[] {
  const known = run.state.get(found)
  const all = run.state.get(parts)
  const earlier = known.get(name) ?? (Object.hasOwn(all, name) ? all[name]! : [])
  known.set(name, earlier)
  return earlier
}

/** Stores the span of this part of the run, for the part that resumes it. */
export function keepPart(run: RunContext, name: string, span: SpanContext): void {
  const { traceId, spanId, traceFlags } = span
  const all = [...earlierParts(run, name), { traceId, spanId, traceFlags }]
  run.state.update(parts, (others) => ({ ...others, [name]: all }))
}
