import type { Attributes, Span } from '@opentelemetry/api'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TracingOptions } from './base/tracing-options.ts'

export interface Recorded {
  /** Options that make `tracing()` write here. */
  readonly options: Pick<TracingOptions, 'tracer' | 'meter'>
  readonly provider: TracerProvider
  readonly tracer: ReturnType<TracerProvider['getTracer']>
  /** Spans that have ended, in the order of their starts. */
  spans(): Promise<readonly ReadableSpan[]>
  span(name: string): Promise<ReadableSpan>
  /** The tree of spans, one line each. */
  tree(): Promise<readonly string[]>
  /** Data points by the name of their metric. */
  metrics(): Promise<Readonly<Record<string, readonly MetricPoint[]>>>
  /** Everything that was exported, as one text. */
  exported(): Promise<string>
}

export interface MetricPoint {
  readonly attributes: Attributes
  readonly value: unknown
}

/** OpenTelemetry's own SDK, with exporters in memory. */
export function record(schemaUrl?: string): Recorded {
  const exporter = new InMemorySpanExporter()
  const order: string[] = []
  const noteStart = {
    onStart: (span: Span) => void order.push(span.spanContext().spanId),
    onEnd: () => {},
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const provider = new TracerProvider({
    spanProcessors: [noteStart, new SimpleSpanProcessor({ exporter })],
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 1e9,
  })
  const meters = new MeterProvider({ readers: [reader] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const options = schemaUrl === undefined ? undefined : { schemaUrl }
  const tracer = provider.getTracer('test', undefined, options)

  const spans = async (): Promise<readonly ReadableSpan[]> => {
    await provider.forceFlush()
    const places = new Map(order.map((id, place) => [id, place]))
    const place = (span: ReadableSpan): number => places.get(span.spanContext().spanId) ?? 0
    return exporter.getFinishedSpans().toSorted((left, right) => place(left) - place(right))
  }
  const points = async () => {
    await reader.forceFlush()
    return (
      metricExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    )
  }
  return {
    options: { tracer, meter: meters.getMeter('test') },
    provider,
    tracer,
    spans,
    async span(name) {
      const found = (await spans()).find((span) => span.name === name)
      if (found === undefined) throw new Error(`no span is named ${name}`)
      return found
    },
    async tree() {
      const all = await spans()
      const line = (span: ReadableSpan): string => {
        const parent = all.find(
          (other) => other.spanContext().spanId === span.parentSpanContext?.spanId,
        )
        return parent === undefined ? span.name : `${line(parent)} > ${span.name}`
      }
      return all.map(line)
    },
    async metrics() {
      const entries = (await points()).map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      ])
      return Object.fromEntries(entries) as Record<string, readonly MetricPoint[]>
    },
    async exported() {
      const plain = (await spans()).map(
        ({ name, attributes, events, status, links, resource, instrumentationScope }) => ({
          name,
          attributes,
          events,
          status,
          links,
          resource: resource.attributes,
          instrumentationScope,
        }),
      )
      return JSON.stringify([plain, await points()])
    },
  }
}
