import { isAbort } from '../base/lamella-error.ts'

/** How a stream ended. */
export type StreamOutcome<Final> =
  | {
      readonly status: 'done'
      /** The final response. */
      readonly response: Final
    }
  | StreamFailure<Final>

/** How a stream ended that failed or was aborted. */
export interface StreamFailure<Final> {
  /** `aborted` by its reader or by a signal. */
  readonly status: 'failed' | 'aborted'
  /** The error, or the reason of the abort. */
  readonly error: unknown
  /** Content received before the end. */
  readonly partial: Partial<Final> | undefined
}

/** Makes the outcome of a stream that failed or was aborted. */
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
