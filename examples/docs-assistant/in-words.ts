import type { Usage } from '@lamella/core'
import { isProviderError } from '@lamella/core'

/** A time for people: `12 ms`, `1.4 s`. */
export function inSeconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** `1 model call`, `2 model calls`. */
export function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}

/** `1,204 tokens in, 56 out`. */
export function tokens({ inputTokens = 0, outputTokens = 0 }: Usage, unit = ' tokens'): string {
  return `${inputTokens.toLocaleString('en')}${unit} in, ${outputTokens.toLocaleString('en')} out`
}

/** A failure in one line, with the words that a provider answered with. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isAbort(error)) return 'stopped'
  // Without a status nobody answered, and what the network library says may quote the request.
  const answered = isProviderError(error) && error.status !== undefined
  const words = answered && error.cause instanceof Error ? error.cause.message : ''
  return words === '' ? error.message : `${error.message}: ${words}`
}

/**
 * Tells whether the user stopped it. Timers wrap the reason of a signal in an error of their own.
 */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
