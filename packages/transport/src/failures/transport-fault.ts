import type { HeaderReader } from './retry-after.ts'
import type { WireObject } from '../wire/wire.ts'
import { parseObject } from '../wire/wire.ts'

/**
 * Why an exchange has no answer, if only this side knows: in words that quote nothing.
 * @example
 * ```ts
 * import { TransportFault } from '@lamella/transport'
 *
 * const toError = (cause: unknown) =>
 *   cause instanceof TransportFault ? `no answer: ${cause.kind}` : 'a failure of the provider'
 * console.log(toError(new Error('busy'))) // a failure of the provider
 * ```
 */
export class TransportFault {
  /** Kind of the failure. */
  readonly kind: 'timeout' | 'network' | 'truncated_stream' | 'server' | 'auth' | 'invalid_request'
  /** Replaces the phrase of the kind in the message. */
  readonly words: string | undefined
  /** True or false if it differs from the rule of the kind. */
  readonly retryable: boolean | undefined
  /** Error that it is known by. */
  readonly cause: unknown

  constructor(
    kind: TransportFault['kind'],
    words?: string,
    { retryable, cause }: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    this.kind = kind
    this.words = words
    this.retryable = retryable
    this.cause = cause
  }
}

/** An answer with a failure status. */
export class HttpFailure {
  /** HTTP status. */
  readonly status: number
  /** HTTP headers. */
  readonly headers: HeaderReader | undefined
  /** Body of the answer: its JSON, or else its text. */
  readonly report: unknown

  constructor(status: number, headers: HeaderReader | undefined, report: unknown) {
    this.status = status
    this.headers = headers
    this.report = report
  }
}

/** Report of a failure inside an answer whose status was 200. */
export class InBandFailure {
  /** Report in the provider's own shape. */
  readonly report: unknown

  constructor(report: unknown) {
    this.report = report
  }
}

/** Classifies a body that is not the `wanted` one, such as `a stream`. */
export function unreadable(
  text: string,
  wanted: string,
  reportIn: (body: WireObject) => unknown,
): InBandFailure | TransportFault {
  const body = parseObject(text)
  const report = body && reportIn(body)
  if (report !== undefined) return new InBandFailure(report)
  if (text.trim() === '') {
    return new TransportFault('server', `the answer is empty instead of ${wanted}`)
  }
  const isPage = /^\s*</.test(text)
  const words = isPage
    ? `the answer is a web page instead of ${wanted}: is \`baseURL\` right?`
    : `the answer is ${body ? 'JSON' : 'text'} instead of ${wanted}`
  return new TransportFault('server', words, { retryable: !isPage && !body })
}

/**
 * Reads a part of an answer. A value of a type that no answer has makes it the provider's failure, with the error
 * as its cause.
 */
export function reading<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    const words = 'the answer has a value of a type that cannot be read'
    throw new TransportFault('server', words, { cause: error })
  }
}
