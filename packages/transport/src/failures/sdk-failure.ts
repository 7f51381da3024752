import { isProviderError } from '@lamella/core'
import { isInstance, isNetworkTimeout } from './network-error.ts'
import type { HeaderReader } from './retry-after.ts'
import { HttpFailure, TransportFault } from './transport-fault.ts'
import { recordOf, stringOf } from '../wire/wire.ts'

type ErrorClass = abstract new (...args: never) => Error

/** Error classes of a provider's SDK, as Stainless generates them. */
export interface SdkErrors {
  /** Class that all others extend, such as `OpenAIError`. */
  readonly base: ErrorClass
  /** Class of failed connections, such as `APIConnectionError`. */
  readonly connection: ErrorClass
  /** Class of connections that timed out, such as `APIConnectionTimeoutError`. */
  readonly timeout: ErrorClass
}

/**
 * Translates an error that an SDK raised before there was an answer. Classes are known by their names
 * too, since two copies of an SDK may be installed. Other errors stay as they are.
 */
export function sdkFailure(error: unknown, { base, connection, timeout }: SdkErrors): unknown {
  if (!isInstance(error, base)) return error
  const { status, headers, error: report, message, cause } = recordOf(error)
  if (typeof status === 'number') {
    return new HttpFailure(status, headers as HeaderReader, report ?? bodyText(message))
  }
  if (isInstance(error, timeout)) return new TransportFault('timeout', undefined, { cause: error })
  if (isInstance(error, connection)) {
    const kind = isNetworkTimeout(error) ? 'timeout' : 'network'
    return new TransportFault(kind, undefined, { cause: error })
  }
  // All others are about credentials that could not be had.
  return isProviderError(cause) ? cause : new TransportFault('auth')
}

/** Returns a body that is not JSON, which an SDK puts behind the status. */
function bodyText(message: unknown): string | undefined {
  const text = stringOf(message)?.replace(/^\d{3} /, '')
  return text === 'status code (no body)' ? undefined : text
}
