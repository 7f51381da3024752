import { listOf, recordOf, stringOf } from '@lamella/transport'
import type {
  GoogleContentFilter,
  GoogleSafetyResults,
  GoogleSafetyVerdict,
  GoogleSeverity,
} from './google-content-filter.ts'

/**
 * Reads Google's safety ratings, and the reason of a block if there is one. A block that no rating
 * explains becomes a category of its own.
 */
export function safetyResults(ratings: unknown, reason?: string): GoogleSafetyResults | undefined {
  const results = new Map<string, GoogleSafetyVerdict>()
  for (const rating of listOf(ratings)) {
    const { category, severity, probability, blocked } = recordOf(rating)
    const name = stringOf(category)?.replace(/^HARM_CATEGORY_/, '')
    if (name === undefined) continue
    const level = severityOf(severity) ?? severityOf(probability)
    const filtered = blocked === true
    results.set(name.toLowerCase(), { filtered, ...(level && { severity: level }) })
  }
  const isExplained = [...results.values()].some(({ filtered }) => filtered)
  if (reason !== undefined && !isExplained) {
    results.set(reason.toLowerCase(), { filtered: true, detected: true })
  }
  return results.size > 0 ? Object.fromEntries(results) : undefined
}

/** Returns the verdict on a call, or `undefined` if Google rated nothing. */
export function contentFilter(
  prompt: GoogleSafetyResults | undefined,
  completion: GoogleSafetyResults | undefined,
): GoogleContentFilter | undefined {
  if (prompt === undefined && completion === undefined) return undefined
  const all = [...Object.values(prompt ?? {}), ...Object.values(completion ?? {})]
  return {
    filtered: all.some(({ filtered }) => filtered),
    ...(prompt && { prompt }),
    ...(completion && { completion }),
  }
}

const severities: ReadonlyMap<string, GoogleSeverity> = new Map([
  ['NEGLIGIBLE', 'safe'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
])

function severityOf(value: unknown): GoogleSeverity | undefined {
  return severities.get(String(value).replace(/^HARM_SEVERITY_/, ''))
}
