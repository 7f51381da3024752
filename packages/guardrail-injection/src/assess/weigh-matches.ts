import type { InjectionMatch } from './hidden-text.ts'
import type { InjectionCategory } from '../signals/injection-signal.ts'

/** Signs that usually occur together: only the strongest counts. */
const countedOnce: readonly InjectionCategory[] = [
  'role-play',
  'fake-turn',
  'hidden-text',
  'encoded',
]

/**
 * Returns the certainty of an attack by its matches, and the strongest category. One match of a
 * strict category is enough.
 */
export function weighMatches(
  matches: readonly InjectionMatch[],
  strict: readonly InjectionCategory[],
): { readonly score: number; readonly category: InjectionCategory | undefined } {
  const doubts = new Map<InjectionCategory, number>()
  const counted = new Set<string>()
  for (const { category, weight, start, end } of matches) {
    // Words that two languages share.
    const key = `${category} ${weight} ${start} ${end}`
    if (counted.has(key)) continue
    counted.add(key)
    const doubt = strict.includes(category) ? 0 : 1 - weight
    const known = doubts.get(category) ?? 1
    const isOnce = countedOnce.includes(category)
    doubts.set(category, isOnce ? Math.min(known, doubt) : known * doubt)
  }
  let left = 1
  let category: InjectionCategory | undefined
  for (const [name, doubt] of doubts) {
    left *= doubt
    if (category === undefined || doubt < doubts.get(category)!) category = name
  }
  return { score: 1 - left, category }
}
