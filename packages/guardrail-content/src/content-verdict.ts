import type { GuardSubject, Verdict } from '@lamella/core'
import type { ContentAction } from './content-action.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'
import type { ContentScanner } from './content-scanner.ts'

/** Makes the check that looks for words and patterns. */
export function contentVerdict(
  scanner: ContentScanner,
  action: ContentAction,
  replacement: NonNullable<ContentFilterOptions['replacement']>,
): (subject: GuardSubject) => Verdict {
  return ({ stage, text, before = '', final }) => {
    const isJson = stage === 'arguments'
    const read = before + (isJson ? text.replace(jsonEscape, blank) : text)
    const found = scanner.scan(read, before.length, final)
    if (found.length === 0) return { action: 'allow' }
    const spans = found.map(({ start, end, category }) => {
      const match = text.slice(start - before.length, end - before.length)
      const made = typeof replacement === 'string' ? replacement : replacement(match, category)
      return {
        start: start - before.length,
        end: end - before.length,
        replacement: isJson ? JSON.stringify(made).slice(1, -1) : made,
      }
    })
    return { action, category: found[0]!.category, spans }
  }
}

// An escape such as `\n` is no letter, and keeps its length.
const jsonEscape = /\\(?:u[0-9a-f]{4}|.)/g

function blank(escape: string): string {
  return ' '.repeat(escape.length)
}
