import type { Delivery } from '@lamella/steering'
import { HttpFailure } from '../http/http-failure.ts'
import type { Shown } from './shown.ts'

/** Statuses of messages that the run of the chat does not take. */
const refusals: Readonly<Record<string, { readonly status: number; readonly code: string }>> = {
  ended: { status: 409, code: 'run_active' },
  full: { status: 429, code: 'inbox_full' },
  paused: { status: 409, code: 'run_paused' },
  invalid: { status: 400, code: 'invalid_input' },
  unknown: { status: 503, code: 'store_failed' },
}

/** Returns the failure of a message that was refused at once. */
export function refusalOf(delivery: Delivery | undefined): HttpFailure | undefined {
  if (delivery?.type !== 'not-delivered') return undefined
  const refusal = refusals[delivery.reason]
  return refusal && new HttpFailure('the run of this chat does not take the message', refusal)
}

/** Shows the sender of a message its fate, as the output of a run: the event, then the end. */
export async function* shownDelivery(
  delivery: Promise<Delivery>,
): AsyncGenerator<Shown, undefined> {
  const data = await delivery
  yield { type: 'update', update: { contents: [], event: { type: 'steering', data } } }
  yield { type: 'done', outcome: { status: data.type, pending: [] }, asked: new Set() }
  return undefined
}
