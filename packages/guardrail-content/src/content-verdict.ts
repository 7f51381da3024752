import type { GuardrailSubject, Verdict } from '@lamella/core'
import type { ContentAction } from './content-action.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'
import type { ContentScanner } from './content-scanner.ts'

/** Makes the check that looks for words and patterns. */
export function contentVerdict(
  scanner: ContentScanner,
  action: ContentAction,
  replacement: NonNullable<ContentFilterOptions['replacement']>,
): (subject: GuardrailSubject) => Verdict {
  return ({ text, before = '', whole = before + text, final }) => {
    const found = scanner.scan(whole, before.length, final)
    if (found.length === 0) return { action: 'allow' }
    const spans = found.map(({ start, end, category }) => {
      const place = { start: start - before.length, end: end - before.length }
      const match = text.slice(place.start, place.end)
      const made = typeof replacement === 'string' ? replacement : replacement(match, category)
      return { ...place, replacement: made }
    })
    return { action, category: found[0]!.category, spans }
  }
}
