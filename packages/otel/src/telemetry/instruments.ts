import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import type { Conventions, Facts } from '../base/conventions.ts'
import type { OperationEnd, OperationStart } from './operation.ts'

/** Metrics of a meter. */
export class Instruments {
  readonly #conventions: Conventions
  readonly #duration: Histogram
  readonly #firstUpdate: Histogram
  readonly #tokens: Histogram
  readonly #cost: Counter
  readonly #events: Counter

  constructor(meter: Meter, conventions: Conventions, currency: string) {
    this.#conventions = conventions
    const histogram = (name: string, unit: string, boundaries: number[], description: string) =>
      meter.createHistogram(name, {
        description,
        unit,
        advice: { explicitBucketBoundaries: boundaries },
      })
    this.#duration = histogram(
      'gen_ai.client.operation.duration',
      's',
      durations,
      'GenAI operation duration.',
    )
    this.#firstUpdate = histogram(
      'gen_ai.client.operation.time_to_first_chunk',
      's',
      durations,
      'Time from the start of a streamed model call to its first update.',
    )
    this.#tokens = histogram(
      'gen_ai.client.token.usage',
      '{token}',
      tokenCounts,
      'Number of input and output tokens used.',
    )
    this.#cost = meter.createCounter('lamella.client.cost', {
      description: 'What model calls cost.',
      unit: `{${currency}}`,
    })
    this.#events = meter.createCounter('lamella.run.events', {
      description: 'What middlewares did: guardrail verdicts, cache hits, retries and the like.',
      unit: '{event}',
    })
  }

  /** An operation that has ended. Tokens and cost are those of model calls: a run would count them twice. */
  ended(
    start: OperationStart,
    { facts, usage = {}, cost }: OperationEnd,
    type: string | undefined,
    elapsedMs: number,
  ): void {
    const attributes = this.#attributes(start, { ...facts, 'error.type': type })
    this.#duration.record(elapsedMs / 1000, attributes)
    if (start.operation !== 'chat') return
    const { 'error.type': _error, ...known } = attributes
    for (const kind of ['input', 'output'] as const) {
      const tokens = usage[`${kind}Tokens`]
      if (tokens) this.#tokens.record(tokens, { ...known, 'gen_ai.token.type': kind })
    }
    if (cost) this.#cost.add(cost, known)
  }

  firstUpdate(start: OperationStart, seconds: number): void {
    this.#firstUpdate.record(seconds, this.#attributes(start, {}))
  }

  event(type: string, facts: Facts): void {
    const status = facts['status'] ?? facts['outcome'] ?? facts['action']
    this.#events.add(1, {
      'lamella.event': type,
      ...(typeof status === 'string' && { 'lamella.event.status': status }),
    })
  }

  #attributes({ operation, facts: started }: OperationStart, facts: Facts) {
    const all: Facts = { 'gen_ai.operation.name': operation, ...started, ...facts }
    return this.#conventions.attributes(
      Object.fromEntries(measured.map((name) => [name, all[name]] as const)),
    )
  }
}

/** Attributes of metrics: those with few values. */
const measured = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.tool.name',
  'gen_ai.agent.name',
  'error.type',
  'lamella.internal',
]

// The boundaries that the conventions ask for.
const durations = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power)
