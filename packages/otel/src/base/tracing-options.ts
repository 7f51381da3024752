import type { AgentContext, ChatContext, FunctionInvocationContext, Usage } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { SemconvVersion } from './conventions.ts'
import { semconvVersions } from './conventions.ts'

/** A `Tracer` of OpenTelemetry, declared here so that its types need not be installed. */
export interface TracerLike {
  /** Starts a span. */
  startSpan(name: string, options?: object, context?: never): object
}

/** A `Meter` of OpenTelemetry. */
export interface MeterLike {
  /** Creates a histogram. */
  createHistogram(name: string, options?: object): object
  /** Creates a counter. */
  createCounter(name: string, options?: object): object
}

/** Context of the run, model call or tool call of a span. */
export type TracedContext = AgentContext | ChatContext | FunctionInvocationContext

/** A failure of telemetry, which does not affect the run. */
export interface TracingEvent {
  readonly status: 'error'
  /** The failure. */
  readonly error: unknown
}

/** A model call that has ended, for `cost`. */
export interface PricedCall {
  /** Name of the provider. */
  readonly provider: string
  /** Name of the model, if known. */
  readonly model: string | undefined
  /** Usage of the call. */
  readonly usage: Usage
}

/** Options of `tracing`. */
export interface TracingOptions extends MiddlewareOptions<TracedContext, TracingEvent> {
  /**
   * `chat` omits the middleware around the run, for a client's own list.
   * @default 'agent'
   */
  readonly level?: 'agent' | 'chat' | undefined
  /**
   * Tracer for the spans.
   * @default that of the global provider
   */
  readonly tracer?: TracerLike | undefined
  /**
   * Meter for the metrics.
   * @default that of the global provider
   */
  readonly meter?: MeterLike | undefined
  /**
   * Version of the semantic conventions. `OTEL_SEMCONV_STABILITY_OPT_IN` with
   * `gen_ai_latest_experimental` overrides it.
   * @default '1.45'
   */
  readonly semconv?: SemconvVersion | undefined
  /**
   * Records metrics.
   * @default true
   */
  readonly metrics?: boolean | undefined
  /**
   * Destination of messages, arguments and results: nowhere, attributes of spans, or events of spans.
   * Content of a run that a guardrail blocked is never written.
   * @default 'none'
   */
  readonly captureContent?: 'none' | 'attributes' | 'events' | undefined
  /** Changes each captured text. If it throws, the text is omitted. */
  readonly redact?: ((text: string) => string) | undefined
  /**
   * Maximum size in bytes of one attribute of captured content.
   * @default 8192
   */
  readonly maxAttributeBytes?: number | undefined
  /**
   * Share of runs whose content is captured, from 0 to 1.
   * @default 1
   */
  readonly sampleContent?: number | undefined
  /** Returns additional attributes for a span. All of them are exported. */
  readonly attributes?:
    | ((context: TracedContext) => Readonly<Record<string, string | number | boolean>>)
    | undefined
  /**
   * Types of run events that are written on spans, with their plain values. Events of other types
   * are not written.
   * @default those of Lamella's middleware, none of which carries content
   */
  readonly events?: readonly string[] | undefined
  /** Cost of a model call, in `currency`. */
  readonly cost?: ((call: PricedCall) => number | undefined) | undefined
  /**
   * Currency of `cost`, an ISO 4217 code.
   * @default 'USD'
   */
  readonly currency?: string | undefined
  /**
   * Writes a line when something starts and ends; `false` writes none.
   * @default `console.debug` where OpenTelemetry is not installed, else none
   */
  readonly log?: ((line: string) => void) | false | undefined
  /**
   * Name of the `diagnostics_channel` that receives everything, on runtimes that have one.
   * @default 'lamella:telemetry'
   */
  readonly diagnosticsChannel?: string | false | undefined
  /**
   * Source of time.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Source of randomness for `sampleContent`, from 0 up to 1.
   * @default a number made of the run's id
   */
  readonly random?: (() => number) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkTracingOptions(options: TracingOptions): void {
  checkOptions('tracing', options, {
    ...middlewareRules,
    level: ['agent', 'chat'],
    tracer: 'any',
    meter: 'any',
    semconv: semconvVersions,
    metrics: [true, false],
    captureContent: ['none', 'attributes', 'events'],
    redact: 'function?',
    maxAttributeBytes: 64,
    sampleContent: 'any',
    attributes: 'function?',
    events: 'any',
    cost: 'function?',
    currency: 'any',
    log: options?.log === false ? 'any' : 'function?',
    diagnosticsChannel: options?.diagnosticsChannel === false ? 'any' : 'string?',
    clock: 'any',
    random: 'function?',
  })
  const { sampleContent = 1, semconv, captureContent, events } = options
  if (!(sampleContent >= 0 && sampleContent <= 1)) {
    throw wrongOption('tracing', 'sampleContent', 'a number from 0 to 1', sampleContent)
  }
  if (semconv === '1.36' && captureContent === 'attributes') {
    throw wrongOption(
      'tracing',
      'captureContent',
      "'events' or 'none' with semconv 1.36",
      captureContent,
    )
  }
  if (events !== undefined && !events.every((type) => typeof type === 'string')) {
    throw wrongOption('tracing', 'events', 'a list of types', events)
  }
}
