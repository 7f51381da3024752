import { errorType } from '@lamella/core/authoring'
import { failureOf } from './failure-of.ts'

/** Line for the server's own log: what the client is told, and what happened. */
export function logLine(error: unknown): string {
  const { message, name = '' } = Object(error) as {
    readonly message?: unknown
    readonly name?: unknown
  }
  const { message: told } = failureOf(error)
  if (typeof message !== 'string' || message === told) return `serve: ${told}`
  // A message may quote a provider: one line, of limited length.
  const plain = message.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 500)
  return `serve: ${told}: ${String(name) || errorType(error)}: ${plain}`
}
