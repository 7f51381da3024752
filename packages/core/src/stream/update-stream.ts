import type { StreamOutcome } from './stream-outcome.ts'

/** The part of a `ResponseStream` that streams made from it read. */
export interface UpdateStream<Update, Final> extends AsyncIterable<Update> {
  finalResponse(): Promise<Final>
  outcome(): Promise<StreamOutcome<Final>>
  cancel(reason?: unknown): Promise<void>
  respond(id: string, value: unknown): boolean
}
