import type { RunContext } from '@lamella/core'
import { errorType, exitOf } from '@lamella/core/authoring'
import type { Context, Meter, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { ContentCapture } from './content-capture.ts'
import type { Conventions, Facts } from '../base/conventions.ts'
import { conventionsOf, semconvFor } from '../base/conventions.ts'
import { Instruments } from './instruments.ts'
import type { OpenTelemetry } from '../base/open-telemetry.ts'
import { openTelemetry } from '../base/open-telemetry.ts'
import type {
  ActiveOperation,
  Ending,
  HeldEnds,
  Operation,
  OperationEnd,
  OperationStart,
} from './operation.ts'
import { messageOf, TelemetryLog } from './telemetry-log.ts'
import type { PricedCall, TracedContext, TracingOptions } from '../base/tracing-options.ts'

const scope = '@lamella/otel'
const operationKey = Symbol.for('lamella.otel.operation')

/**
 * Writes the telemetry of one `tracing()`. None of its methods throws: a failure here never affects
 * a run.
 */
export class Telemetry {
  readonly name: string
  readonly options: TracingOptions
  readonly conventions: Conventions
  readonly capture: ContentCapture
  /** Milliseconds since some moment. */
  readonly now: () => number
  api: OpenTelemetry | undefined
  #log: TelemetryLog | undefined
  #tracer: Tracer | undefined
  #meter: Meter | undefined
  #instruments: Instruments | undefined

  constructor(options: TracingOptions) {
    this.options = options
    this.name = options.name ?? 'tracing'
    this.conventions = conventionsOf(semconvFor(options.semconv))
    this.capture = new ContentCapture(options, this.conventions)
    const { clock } = options
    this.now = clock === undefined ? () => performance.now() : () => clock.now()
  }

  /** A promise only before OpenTelemetry was looked for. */
  ready(): void | Promise<void> {
    const api = openTelemetry()
    if (api instanceof Promise) return api.then((loaded) => this.#use(loaded))
    this.#use(api)
  }

  begin(start: OperationStart): Operation {
    const operation: Operation = { start, startedAt: this.now(), ended: false }
    this.safely(() => {
      if (!this.log.isOff) this.log.tell(messageOf(start, 'start'))
      const { api } = this
      const outside = api?.context.active()
      const span = this.#startSpan(start, outside)
      if (api === undefined || outside === undefined || span === undefined) return
      operation.span = span
      const isSeen = this.sees(operation)
      if (isSeen || api.isSpanContextValid(span.spanContext()))
        operation.context = api.trace.setSpan(outside, span)
      if (operation.context === undefined || !isSeen) return
      operation.active = { operation }
      operation.context = operation.context.setValue(operationKey, operation.active)
    })
    return operation
  }

  /** Returns true if more details of an operation are recorded anywhere. */
  sees({ span }: Operation): boolean {
    return span?.isRecording() === true || this.#instruments !== undefined || !this.log.isOff
  }

  /**
   * Runs `callNext` inside an operation and lets `conclude` end it. The outcome is always that of
   * `callNext`, and the span always ends.
   */
  async watch<Result>(
    operation: Operation,
    context: { readonly signal: AbortSignal },
    callNext: () => Promise<Result>,
    conclude: (ending: Ending<Result>) => void,
  ): Promise<Result> {
    const close = (ending: Ending<Result>): void => {
      this.safely(() => conclude(ending))
      if (!operation.ended) this.end(operation, { status: ending.status })
    }
    try {
      const result = await this.within(operation, callNext)
      close({ status: 'completed', result })
      return result
    } catch (error) {
      close({ status: exitOf(error, context.signal), error })
      throw error
    }
  }

  /** Runs `work` once, with the operation as the active one if possible. */
  within<Result>({ context }: Operation, work: () => Promise<Result>): Promise<Result> {
    const { api } = this
    if (api === undefined || context === undefined) return work()
    let result: Promise<Result> | undefined
    this.safely(() => {
      api.context.with(context, () => {
        result = work()
      })
    })
    return result ?? work()
  }

  /** The innermost operation of `run` that is active here, if any is. */
  activeIn(run: RunContext): Operation | undefined {
    const active = this.api?.context.active().getValue(operationKey) as ActiveOperation | undefined
    return active?.operation?.start.run === run ? active.operation : undefined
  }

  /** Ends the operation, now or, if its content may be captured, together with the run. */
  end(operation: Operation, end: OperationEnd, held?: HeldEnds): void {
    const { start, span } = operation
    operation.ended = true
    if (operation.active !== undefined) operation.active.operation = undefined
    const elapsedMs = this.now() - operation.startedAt
    this.safely(() => {
      if (!this.log.isOff) this.log.tell(messageOf(start, 'end', { ...end, elapsedMs }))
    })
    const isFault = end.status === 'failed' || end.status === 'aborted'
    const type = end.errorType ?? (isFault ? errorType(end.error) : undefined)
    const facts = { ...end.facts, 'error.type': type, 'lamella.status': end.status }
    if (start.operation !== 'middleware') {
      this.safely(() => this.#instruments?.ended(start, end, type, elapsedMs))
    }
    if (span === undefined) return
    this.safely(() => this.#writeEnd(span, { ...facts, 'lamella.cost': end.cost }, end))
    const { content } = end
    const finish = (isSealed: boolean, time?: number): void => {
      this.safely(() => {
        if (content !== undefined && !isSealed) this.capture.write(span, content())
      })
      this.safely(() => span.end(time))
    }
    if (held === undefined || content === undefined) finish(end.status === 'blocked')
    else {
      const time = performance.now()
      held.push((isSealed) => finish(isSealed, time))
    }
  }

  /** Writes an event on a span, and counts it. */
  event(
    operation: Operation,
    type: string,
    facts: Record<string, string | number | boolean>,
  ): void {
    const attributes = Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [`lamella.${type}.${name}`, value]),
    )
    this.safely(() => operation.span?.addEvent(`lamella.${type}`, attributes))
    this.safely(() => this.#instruments?.event(type, facts))
    this.safely(() => {
      if (!this.log.isOff) this.log.tell({ ...messageOf(operation.start, 'event'), type, facts })
    })
  }

  /** A completed model call of a middleware. */
  past(
    inside: Operation,
    facts: Facts,
    startedAt: number,
    durationMs: number,
    end: OperationEnd,
  ): void {
    const { context, start: outer } = inside
    const model = facts['gen_ai.request.model']
    const subject = model === undefined ? undefined : String(model)
    const start: OperationStart = { ...outer, operation: 'chat', subject, facts }
    this.safely(() => this.#instruments?.ended(start, end, end.errorType, durationMs))
    this.safely(() => {
      const span = this.#startSpan(start, context, startedAt)
      if (span === undefined) return
      this.#writeEnd(span, { 'lamella.status': end.status, 'lamella.cost': end.cost }, end)
      span.end(startedAt + durationMs)
    })
  }

  firstUpdate({ start, startedAt, span }: Operation): void {
    this.safely(() => {
      const seconds = (this.now() - startedAt) / 1000
      const facts = { 'gen_ai.response.time_to_first_chunk': seconds }
      span?.setAttributes(this.conventions.attributes(facts))
      this.#instruments?.firstUpdate(start, seconds)
    })
  }

  /** With the attributes that the application adds. */
  factsOf(context: TracedContext, facts: Facts): Facts {
    const { attributes } = this.options
    let more: Facts = {}
    if (attributes !== undefined) this.safely(() => (more = attributes(context)))
    return { ...facts, ...more }
  }

  /** Returns the cost of a call, if it is known. */
  priceOf(call: PricedCall): number | undefined {
    const { cost } = this.options
    let price: number | undefined
    if (cost !== undefined && Object.keys(call.usage).length > 0)
      this.safely(() => (price = cost(call)))
    return Number.isFinite(price) ? price : undefined
  }

  /** The address of a span, if it has one. */
  addressOf({ span }: Operation): SpanContext | undefined {
    const address = span?.spanContext()
    return address !== undefined && this.api!.isSpanContextValid(address) ? address : undefined
  }

  safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.failed(error)
    }
  }

  failed(error: unknown): void {
    try {
      this.options.onEvent?.({ status: 'error', error })
    } catch {
      // An observer cannot break what it observes.
    }
  }

  get log(): TelemetryLog {
    const { log, diagnosticsChannel = 'lamella:telemetry' } = this.options
    const write =
      log ?? (this.api === undefined ? (line: string) => console.debug(line) : undefined)
    return (this.#log ??= new TelemetryLog(diagnosticsChannel, write || undefined))
  }

  #use(api: OpenTelemetry | undefined): void {
    this.api = api
    if (api === undefined || this.options.metrics === false) return
    this.safely(() => {
      const { schemaUrl } = this.conventions
      const given = this.options.meter as Meter | undefined
      const meter = given ?? api.metrics.getMeter(scope, undefined, { schemaUrl })
      if (meter === this.#meter) return
      this.#meter = meter
      const isNothing = meter === api.createNoopMeter()
      this.#instruments = isNothing
        ? undefined
        : new Instruments(meter, this.conventions, this.options.currency ?? 'USD')
    })
  }

  #currentTracer(): Tracer | undefined {
    const { schemaUrl } = this.conventions
    const given = this.options.tracer as Tracer | undefined
    // The global one finds its provider by itself, also one that is registered later.
    return (this.#tracer ??=
      given ?? this.api?.trace.getTracerProvider().getTracer(scope, undefined, { schemaUrl }))
  }

  #startSpan(
    { operation, subject, facts, links = [] }: OperationStart,
    context: Context | undefined,
    startTime?: number,
  ): Span | undefined {
    const { api } = this
    const known =
      operation === 'middleware' ? facts : { 'gen_ai.operation.name': operation, ...facts }
    return this.#currentTracer()?.startSpan(
      subject === undefined ? operation : `${operation} ${subject}`,
      {
        kind: operation === 'chat' ? api!.SpanKind.CLIENT : api!.SpanKind.INTERNAL,
        attributes: this.conventions.attributes(known),
        links: [...links],
        ...(startTime !== undefined && { startTime }),
      },
      context,
    )
  }

  #writeEnd(span: Span, facts: Facts, { status, errorType: type, usage = {} }: OperationEnd): void {
    if (status === 'failed' || type !== undefined)
      span.setStatus({ code: this.api!.SpanStatusCode.ERROR })
    span.setAttributes(
      this.conventions.attributes({
        ...facts,
        'gen_ai.usage.input_tokens': usage.inputTokens,
        'gen_ai.usage.output_tokens': usage.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
        'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
        'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
      }),
    )
  }
}
