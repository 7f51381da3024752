export type { SemconvVersion } from './base/conventions.ts'
export { traced } from './traced.ts'
export type { TracedOptions } from './traced.ts'
export { tracing } from './tracing.ts'
export type { TracingMiddleware } from './tracing.ts'
export type { TelemetryMessage } from './telemetry/telemetry-message.ts'
export type {
  MeterLike,
  PricedCall,
  TracedContext,
  TracerLike,
  TracingEvent,
  TracingOptions,
} from './base/tracing-options.ts'
