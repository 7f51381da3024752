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

/** Describes a failure in one line, with the message of the provider. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isAbort(error)) return 'stopped'
  // Without a status, there was no response, and the message of the network library may quote the request.
  const answered = isProviderError(error) && error.status !== undefined
  const words = answered && error.cause instanceof Error ? error.cause.message : ''
  return words === '' ? error.message : `${error.message}: ${words}`
}

/**
 * Returns true if the user stopped it. Timers wrap the reason of a signal in their own error.
 */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
