import { describe, expect, test } from 'vitest'
import type { ProviderErrorKind } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type { FailureContext } from './provider-failure.ts'
import type { ReportedFailure } from './reported-failure.ts'
import { reportedFailure, transportError, verdictOfStatus } from './reported-failure.ts'
import { HttpFailure, InBandFailure, TransportFault } from './transport-fault.ts'

const context: FailureContext = {
  provider: 'acme',
  replay: 'unsafe',
  confidential: { keys: () => ['secret-key-1'], texts: () => [] },
}

function reported(more: Partial<ReportedFailure> = {}): ProviderError {
  const { status } = more
  const failure: ReportedFailure = {
    ...verdictOfStatus(status),
    status,
    headers: undefined,
    names: [],
    message: undefined,
    afterMs: undefined,
    requestId: undefined,
    ...more,
  }
  return reportedFailure(failure, context)
}

describe('a failure that a provider reports', () => {
  test.each<[number | undefined, ProviderErrorKind, boolean, 'safe' | 'unsafe']>([
    [undefined, 'server', true, 'unsafe'],
    [400, 'invalid_request', false, 'safe'],
    [404, 'not_found', false, 'safe'],
    [408, 'timeout', true, 'unsafe'],
    [429, 'rate_limit', true, 'safe'],
    [499, 'network', true, 'safe'],
    [500, 'server', true, 'unsafe'],
    [501, 'server', false, 'unsafe'],
    [503, 'overloaded', true, 'unsafe'],
    [505, 'server', false, 'unsafe'],
    [520, 'server', true, 'unsafe'],
  ])('with status %s is of kind %s, retryable: %s, a repeat: %s', (status, kind, ...retry) => {
    const [retryable, replay] = retry

    expect(reported({ status })).toMatchObject({ kind, status, retry: { retryable, replay } })
  })

  test.each<[ProviderErrorKind, string, boolean]>([
    ['invalid_request', 'true', true],
    ['server', 'false', false],
    ['server', 'perhaps', true],
    ['quota', 'true', false],
  ])('of kind %s with the advice %j, retryable: %s', (kind, advice, retryable) => {
    const headers = new Headers({ 'x-should-retry': advice })

    expect(reported({ kind, headers }).retry.retryable).toBe(retryable)
  })

  test.each<[Partial<ReportedFailure>, string]>([
    [{}, 'acme: the server failed'],
    [{ names: ['overflow', undefined] }, 'acme: the server failed (overflow)'],
    [{ status: 429, names: [undefined, 'slow'] }, 'acme: rate limited (429, slow)'],
    [{ status: 429, names: ['429', 'slow'] }, 'acme: rate limited (429, slow)'],
  ])('%j has the message %j', (failure, message) => {
    expect(reported(failure).message).toBe(message)
  })

  test('has the words of the provider as its cause, without keys, and what else is known', () => {
    const known = { afterMs: 5, requestId: 'r1', details: { param: 'tools' } }

    const error = reported({ message: 'No tools for secret-key-1', ...known })

    expect(error).toMatchObject({
      requestId: 'r1',
      retry: { afterMs: 5 },
      details: { param: 'tools' },
      cause: new Error('No tools for [key]'),
    })
  })

  test.each<Partial<ReportedFailure>>([{}, { message: '', details: {} }])(
    'has no cause and no details where there are none: %j',
    (failure) => {
      const { cause, details } = reported(failure)

      expect([cause, details]).toEqual([undefined, undefined])
    },
  )
})

/** As fetch wraps what a socket reports. */
function broken(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })
}

describe('what a call raised', () => {
  const headers = new Headers({ 'x-request-id': 'r1' })
  const read = (raised: unknown, more: Partial<FailureContext> = {}) =>
    transportError(raised, { ...context, ...more }, (report, status, from) =>
      reported({ status, names: [String(report)], requestId: from?.get('x-request-id') ?? 'none' }),
    )

  test.each([
    ['a code without a connection', new TypeError('x is not a function')],
    ['an error of a provider', new ProviderError('no', { ...context, kind: 'auth' })],
    [
      'an error of a provider whose connection broke',
      new ProviderError('no', { provider: 'acme', kind: 'server', cause: broken('ECONNRESET') }),
    ],
    ['no error', 'terminated'],
  ])('stays as it is: %s', (_name, raised) => {
    expect(read(raised)).toBe(raised)
  })

  test.each<[string, unknown, object]>([
    [
      'a report in an answer',
      new InBandFailure('overflow'),
      { message: 'acme: the server failed (overflow)', requestId: 'r1' },
    ],
    [
      'a status',
      new HttpFailure(404, new Headers({ 'x-request-id': 'r2' }), 'gone'),
      { message: 'acme: the model or the address was not found (404, gone)', requestId: 'r2' },
    ],
    [
      'a fault with words of its own',
      new TransportFault('server', 'the answer is empty', { retryable: false }),
      { message: 'acme: the answer is empty', kind: 'server', retry: { retryable: false } },
    ],
    [
      'a fault that an error made',
      new TransportFault('network', undefined, { cause: broken('ECONNRESET') }),
      { message: 'acme: the connection failed (ECONNRESET)', cause: new Error('no') },
    ],
    [
      'a connection that broke',
      broken('ECONNRESET'),
      { message: 'acme: the connection failed (ECONNRESET)', kind: 'network' },
    ],
    [
      'a connection that took too long',
      broken('UND_ERR_HEADERS_TIMEOUT'),
      { message: 'acme: timed out (UND_ERR_HEADERS_TIMEOUT)', kind: 'timeout' },
    ],
  ])('becomes an error of the provider: %s', (_name, raised, expected) => {
    const error = read(raised, { headers })

    expect(error).toBeInstanceOf(ProviderError)
    expect(error).toMatchObject(expected)
  })

  test.each([
    ['by fetch', new TypeError('Invalid URL')],
    ['by a client', new TransportFault('network', undefined, { cause: new Error('bad port') })],
  ])('is the fault of the request where it cannot be sent, told %s', (_name, raised) => {
    const error = read(raised)

    expect(error).toMatchObject({
      message: 'acme: the request cannot be sent: its address or one of its headers is not valid',
      kind: 'invalid_request',
      retry: { retryable: false, replay: 'safe' },
    })
    expect(error).not.toHaveProperty('cause')
  })

  test('is the fault of a key that no header can carry, which is not quoted', () => {
    const confidential = { keys: () => ['secret\nkey'], texts: () => [] }

    const error = read(new TypeError('invalid header value: secret'), { confidential })

    expect(error).toMatchObject({
      message: 'acme: the API key holds a character that no header can carry, such as a line break',
      kind: 'auth',
      retry: { replay: 'safe' },
    })
    expect(error).not.toHaveProperty('cause')
  })
})
