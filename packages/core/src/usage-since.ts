import type { Usage } from './usage.ts'

/** What was used since a count was taken, without counters that stand still. */
export function usageSince(now: Usage, before: Usage): Usage {
  const used = Object.entries(now).map(
    ([counter, count = 0]) => [counter, count - (before[counter] ?? 0)] as const,
  )
  return Object.fromEntries(used.filter(([, count]) => count !== 0))
}
