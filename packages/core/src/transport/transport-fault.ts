import type { WireObject } from './wire.ts'
import { parseObject } from './wire.ts'

/** Why an exchange is no answer, where only this side knows: in words that quote nothing. */
export class TransportFault {
  readonly kind: 'timeout' | 'truncated_stream' | 'server'
  readonly words: string
  /** Only where it differs from what the kind says. */
  readonly retryable: boolean | undefined

  constructor(kind: TransportFault['kind'], words: string, retryable?: boolean) {
    this.kind = kind
    this.words = words
    this.retryable = retryable
  }
}

/** Report of a failure inside an answer whose status was 200. */
export class InBandFailure {
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
  return new TransportFault('server', words, !isPage && !body)
}
