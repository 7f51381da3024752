import type { RunContext } from './run-context.ts'

/** Types of the events that Lamella's layers send. None of them carries content. */
export const layerEvents: readonly string[] = Object.freeze([
  'approval-ignored',
  'budget',
  'cache',
  'circuit_breaker',
  'fallback',
  'files',
  'guardrail',
  'internal_call',
  'patch',
  'rate_limit',
  'retry',
  'schema',
  'summarize',
  'timeout',
  'truncate',
])

/** In which run an event was told first, by the data of the event and the name of who is told. */
const toldIn = new WeakMap<object, Map<string, RunContext>>()

/**
 * Tells `listener` of the events of these types, until the returned function is called. What a sub-agent
 * passes on to its caller is told once, in the run of the sub-agent if `observer` observes that too.
 */
export function observeLayers(
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
  const told = toldIn.get(data) ?? new Map<string, RunContext>()
  toldIn.set(data, told)
  if (!told.has(observer)) told.set(observer, run)
  return told.get(observer) === run
}
