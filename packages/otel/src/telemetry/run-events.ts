import type { RunContext } from '@lamella/core'
import { addUsage } from '@lamella/core'
import type { InternalCallEvent } from '@lamella/core/authoring'
import { eventFacts, middlewareEvents, observeMiddleware } from '@lamella/core/authoring'
import { providerName, providerOf } from '../base/conventions.ts'
import type { Operation } from './operation.ts'
import type { RunTrace } from './run-trace.ts'
import type { Telemetry } from './telemetry.ts'

/**
 * Writes reports of middleware on the span in which they occur, until the returned function is
 * called. Reports from elsewhere, such as a transform, are written on the current model call.
 */
export function writeEvents(telemetry: Telemetry, run: RunContext, trace: RunTrace): () => void {
  const { events = middlewareEvents } = telemetry.options
  return observeMiddleware(run, 'tracing', events, (type, data) => {
    telemetry.safely(() => {
      const operation = telemetry.activeIn(run) ?? trace.call ?? trace.operation
      if (type === 'internal_call')
        writeCall(telemetry, operation, data as InternalCallEvent, trace)
      else telemetry.event(operation, type, eventFacts(data))
    })
  })
}

/** A model call of a middleware itself has its own span. */
function writeCall(
  telemetry: Telemetry,
  operation: Operation,
  { middleware, provider, model, startedAt, durationMs, usage, status }: InternalCallEvent,
  trace: RunTrace,
): void {
  trace.internalUsage = addUsage(trace.internalUsage, usage)
  const cost = usage && telemetry.priceOf({ provider, model, usage })
  trace.cost += cost ?? 0
  const facts = {
    [providerName]: providerOf(provider),
    'gen_ai.request.model': model,
    'lamella.internal': true,
    'lamella.middleware.name': middleware,
    'lamella.run.id': operation.start.run.id,
  }
  const errorType = status === 'failed' ? '_OTHER' : undefined
  telemetry.past(operation, facts, startedAt, durationMs, { status, usage, cost, errorType })
}
