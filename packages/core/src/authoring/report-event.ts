import type { RunContext } from '../contract/run.ts'

/**
 * Creates the function with which a middleware reports its actions: as an event of type `type` of
 * the run, and to `onEvent`. Events must not contain text of users or models.
 */
export function reporter<Event>(
  type: string,
  onEvent: ((event: Event) => void) | undefined,
): (run: RunContext, event: Event) => void {
  return (run, event) => {
    run.emit({ type, data: event })
    try {
      onEvent?.(event)
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

/** Types of the events that Lamella's middleware sends. None of them carries content. */
export const middlewareEvents: readonly string[] = /* @__PURE__ */ Object.freeze([
  'budget',
  'cache',
  'circuit_breaker',
  'durable',
  'fallback',
  'files',
  'guardrail',
  'internal_call',
  'patch',
  'prompt_cache',
  'rate_limit',
  'retry',
  'route',
  'schema',
  'steering',
  'summarize',
  'timeout',
  'tool_policy',
  'truncate',
])

/**
 * Id of the run in which an event was reported first, by the data of the event and the name of the
 * observer.
 */
const toldIn = new WeakMap<object, Map<string, string>>()

/**
 * Calls `listener` with events of these types, until the returned function is called. An event that
 * a sub-agent forwards to its caller is reported once, in the run of the sub-agent if `observer`
 * observes that too.
 */
export function observeMiddleware(
  run: RunContext,
  observer: string,
  types: readonly string[],
  listener: (type: string, data: unknown) => void,
): () => void {
  return run.observe(({ type, data }) => {
    if (types.includes(type) && isOf(run, observer, data)) listener(type, data)
  })
}

function isOf(run: RunContext, observer: string, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return true
  const told = toldIn.get(data) ?? new Map<string, string>()
  toldIn.set(data, told)
  if (!told.has(observer)) told.set(observer, run.id)
  return told.get(observer) === run.id
}

/**
 * The plain values in the data of an event, by path (`usage.inputTokens`), for logs and spans:
 * numbers, booleans, and text of up to 200 characters. Longer and deeper values are omitted.
 */
export function eventFacts(data: unknown): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = {}
  collect(data, '', 2, facts)
  return facts
}

function collect(
  data: unknown,
  path: string,
  depth: number,
  facts: Record<string, string | number | boolean>,
): void {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return
  for (const [key, value] of Object.entries(data)) {
    if (key === '__proto__') continue
    const name = path + key
    if (typeof value === 'boolean') facts[name] = value
    else if (typeof value === 'number' && Number.isFinite(value)) facts[name] = value
    else if (typeof value === 'string' && value.length <= 200) facts[name] = value
    else if (depth > 1) collect(value, `${name}.`, depth - 1, facts)
  }
}
