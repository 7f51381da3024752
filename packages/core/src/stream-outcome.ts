import { LamellaError } from './lamella-error.ts'

/** How a stream ended. */
export type StreamOutcome<Final> =
  | { readonly status: 'done'; readonly response: Final }
  | {
      readonly status: 'failed' | 'aborted'
      readonly error: unknown
      /** What had come through when it ended. */
      readonly partial: Partial<Final> | undefined
    }

/** The outcome of a stream that did not come to its end. */
export function endedBy<Final>(
  error: unknown,
  partial: Partial<Final> | undefined,
): StreamOutcome<Final> {
  const isAborted = LamellaError.is(error, 'aborted') || isAbort(error)
  return { status: isAborted ? 'aborted' : 'failed', error, partial }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
