import { LamellaError } from './lamella-error.ts'

/** How a stream ended. */
export type StreamOutcome<Final> =
  | { readonly status: 'done'; readonly response: Final }
  | StreamFailure<Final>

export interface StreamFailure<Final> {
  /** `aborted` by its reader or by a signal. */
  readonly status: 'failed' | 'aborted'
  readonly error: unknown
  /** What had come through when it ended. */
  readonly partial: Partial<Final> | undefined
}

/** How a stream ended that did not come to its end. */
export function endedBy<Final>(
  error: unknown,
  { isAborted = isAbort(error), partial }: EndedByOptions<Final> = {},
): StreamFailure<Final> {
  return { status: isAborted ? 'aborted' : 'failed', error, partial }
}

interface EndedByOptions<Final> {
  readonly isAborted?: boolean
  readonly partial?: Partial<Final> | undefined
}

function isAbort(error: unknown): boolean {
  return (
    LamellaError.is(error, 'aborted') || (error instanceof Error && error.name === 'AbortError')
  )
}
