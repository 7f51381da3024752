import { expect, test } from 'vitest'
import { ProviderError } from '@lamella/core'
import { sdkFailure } from './sdk-failure.ts'
import { HttpFailure, TransportFault } from './transport-fault.ts'

class SdkError extends Error {}
class ConnectionError extends SdkError {}
class TimeoutError extends ConnectionError {}

const classes = { base: SdkError, connection: ConnectionError, timeout: TimeoutError }
const headers = new Headers()

test.each<[string, object, unknown]>([
  ['429 slow down', { error: { message: 'Slow.' } }, { message: 'Slow.' }],
  ['429 slow down', {}, 'slow down'],
  ['429 status code (no body)', {}, undefined],
])('a status is a failure of the server: %j, %j', (message, more, report) => {
  const error = Object.assign(new SdkError(message), { status: 429, headers, ...more })

  const failure = sdkFailure(error, classes)

  expect(failure).toBeInstanceOf(HttpFailure)
  expect(failure).toEqual(new HttpFailure(429, headers, report))
})

test.each([
  ['timeout', new TimeoutError('late')],
  ['network', new ConnectionError('cut')],
  [
    'timeout',
    new ConnectionError('cut', { cause: Object.assign(new Error('late'), { code: 'ETIMEDOUT' }) }),
  ],
] as const)('no connection is a fault of kind %s: %s', (kind, cause) => {
  const fault = sdkFailure(cause, classes)

  expect(fault).toBeInstanceOf(TransportFault)
  expect(fault).toMatchObject({ kind, cause })
})

test('credentials that cannot be had are told by what failed, if that is known', () => {
  const cause = new ProviderError('acme: timed out', { kind: 'timeout', provider: 'acme' })

  expect(sdkFailure(new SdkError('no token', { cause }), classes)).toBe(cause)
  expect(sdkFailure(new SdkError('a secret'), classes)).toEqual(new TransportFault('auth'))
})

test('errors of others stay as they are', () => {
  const error = new Error('not of the SDK')

  expect(sdkFailure(error, classes)).toBe(error)
})
