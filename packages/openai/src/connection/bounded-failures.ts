import { boundedFailure } from '@lamella/transport'
import type { ClientOptions } from 'openai'

type Fetch = NonNullable<ClientOptions['fetch']>

/**
 * Creates a fetch for an SDK client that limits the time for bodies of failed requests, see
 * `boundedFailure`.
 */
export function boundedFailures(
  send: Fetch = (input, init) => fetch(input, init),
  bodyTimeoutMs = 300_000,
): Fetch {
  return async (input, init) => boundedFailure(await send(input, init), bodyTimeoutMs)
}
