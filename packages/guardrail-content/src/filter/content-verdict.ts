import type { GuardrailSubject, Verdict } from '@lamella/guardrail'
import type { ContentAction } from './content-action.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'
import type { ContentSearch } from '../words/content-search.ts'

/** Creates the check for words and patterns. */
export function contentVerdict(
  search: ContentSearch,
  action: ContentAction,
  replacement: NonNullable<ContentFilterOptions['replacement']>,
): (subject: GuardrailSubject) => Verdict {
  return ({ text, before = '', whole = before + text, final }) => {
    const found = search.scan(whole, before.length, final)
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
