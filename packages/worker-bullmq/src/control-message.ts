import type { CancelMode } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** Message of a queue to its workers. */
export interface ControlMessage {
  /** Id of the run. */
  readonly runId: string
  /** Cancels the run. */
  readonly cancel?: CancelMode | undefined
  /** Id of a request of the run that is answered. */
  readonly respond?: string | undefined
  /** The answer. */
  readonly value?: unknown
}

export const cancelModes: readonly CancelMode[] = ['now', 'after-model', 'after-tools']

/**
 * Reads a message of the channel, to which anybody with access to Redis can write.
 * @throws LamellaError `control_invalid`
 */
export function readControl(text: string): ControlMessage {
  let message: Partial<ControlMessage> | null = null
  try {
    message = Object(JSON.parse(text)) as Partial<ControlMessage>
  } catch {
    // Not JSON: handled below, without quoting it.
  }
  const { runId, cancel, respond } = message ?? {}
  const isKnown =
    typeof runId === 'string' &&
    (cancel === undefined || cancelModes.includes(cancel)) &&
    (respond === undefined || typeof respond === 'string')
  if (isKnown) return message as ControlMessage
  throw new LamellaError('a message on the control channel has an unknown form; it was ignored', {
    code: 'control_invalid',
  })
}
