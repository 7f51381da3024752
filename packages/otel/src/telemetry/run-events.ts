import type { RunContext } from '@lamella/core'
import { addUsage } from '@lamella/core'
import type { InternalCallEvent } from '@lamella/core/authoring'
import { eventFacts, middlewareEvents, observeMiddleware } from '@lamella/core/authoring'
import { providerName, providerOf } from '../base/conventions.ts'
import type { Operation } from './operation.ts'
import type { RunTrace } from './run-trace.ts'
import type { Telemetry } from './telemetry.ts'

/**
 * Writes what middlewares tell of their work on the span in which they do it, until the returned function is
 * called. What is told from elsewhere, as by a transform, goes to the current model call.
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

/** A model call that a middleware has made for itself is a span of its own. */
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
