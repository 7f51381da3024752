import type { InjectionMatch } from './hidden-text.ts'
import type { InjectionCategory } from '../signals/injection-signal.ts'

/** Signs that go together anyway: of these, only the strongest counts. */
const countedOnce: readonly InjectionCategory[] = [
  'role-play',
  'fake-turn',
  'hidden-text',
  'encoded',
]

/** How sure matches make of an attack, and which category does so most. One of a strict category is enough. */
export function weighMatches(
  matches: readonly InjectionMatch[],
  strict: readonly InjectionCategory[],
): { readonly score: number; readonly category: InjectionCategory | undefined } {
  const doubts = new Map<InjectionCategory, number>()
  for (const { category, weight } of matches) {
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
