import type { AgentContext, ChatContext, FunctionInvocationContext, Usage } from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import { checkOptions, layerRules, wrongOption } from '@lamella/core/authoring'
import type { SemconvVersion } from './conventions.ts'
import { semconvVersions } from './conventions.ts'

/** A `Tracer` of OpenTelemetry, described so that its types need not be installed. */
export interface TracerLike {
  startSpan(name: string, options?: object, context?: never): object
}

/** A `Meter` of OpenTelemetry. */
export interface MeterLike {
  createHistogram(name: string, options?: object): object
  createCounter(name: string, options?: object): object
}

export type TracedContext = AgentContext | ChatContext | FunctionInvocationContext

/** Telemetry has failed. The run knows nothing of it. */
export interface TracingEvent {
  readonly status: 'error'
  readonly error: unknown
}

/** A model call that has ended, for `cost`. */
export interface PricedCall {
  readonly provider: string
  readonly model: string | undefined
  readonly usage: Usage
}

export interface TracingOptions extends LayerOptions<TracedContext, TracingEvent> {
  /**
   * `chat` leaves out the layer around the run, for a client's own list.
   * @default 'agent'
   */
  readonly level?: 'agent' | 'chat' | undefined
  /** @default that of the global provider */
  readonly tracer?: TracerLike | undefined
  /** @default that of the global provider */
  readonly meter?: MeterLike | undefined
  /**
   * The version of the semantic conventions. `OTEL_SEMCONV_STABILITY_OPT_IN` with
   * `gen_ai_latest_experimental` overrules it.
   * @default '1.45'
   */
  readonly semconv?: SemconvVersion | undefined
  /** @default true */
  readonly metrics?: boolean | undefined
  /**
   * Where messages, arguments and results are written: nowhere, as attributes of spans, or as events
   * of spans. Of a run that a guard blocked, nothing is.
   * @default 'none'
   */
  readonly captureContent?: 'none' | 'attributes' | 'events' | undefined
  /** Changes each text that is captured. If it throws, that text is left out. */
  readonly redact?: ((text: string) => string) | undefined
  /**
   * The most that one attribute of captured content may have.
   * @default 8192
   */
  readonly maxAttributeBytes?: number | undefined
  /**
   * The share of runs whose content is captured, from 0 to 1.
   * @default 1
   */
  readonly sampleContent?: number | undefined
  /** More attributes for a span. Whatever is returned is exported. */
  readonly attributes?:
    | ((context: TracedContext) => Readonly<Record<string, string | number | boolean>>)
    | undefined
  /**
   * Types of run events that are written on spans, with their plain values. An event of another type
   * leaves nothing.
   * @default those of Lamella's layers, none of which carries content
   */
  readonly events?: readonly string[] | undefined
  /** What a model call costs, in `currency`. */
  readonly cost?: ((call: PricedCall) => number | undefined) | undefined
  /** @default 'USD' */
  readonly currency?: string | undefined
  /**
   * Writes a line when something starts and ends; `false` writes none.
   * @default `console.debug` where OpenTelemetry is not installed, else none
   */
  readonly log?: ((line: string) => void) | false | undefined
  /**
   * The `diagnostics_channel` that is told of everything, on runtimes that have one.
   * @default 'lamella:telemetry'
   */
  readonly diagnosticsChannel?: string | false | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
  /** @default Math.random */
  readonly random?: (() => number) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkTracingOptions(options: TracingOptions): void {
  checkOptions('tracing', options, {
    ...layerRules,
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
    log: options.log === false ? 'any' : 'function?',
    diagnosticsChannel: options.diagnosticsChannel === false ? 'any' : 'string?',
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
