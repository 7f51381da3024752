import { expect, test } from 'vitest'
import { isInstance, isNetworkError, isNetworkTimeout } from './network-error.ts'
import { providerFailure } from './provider-failure.ts'
import { conversationTexts } from './provider-words.ts'
import { checkHeader } from './header-value.ts'

const context = {
  provider: 'acme',
  replay: 'unsafe',
  confidential: { keys: () => ['secret-key-1'], texts: () => [] },
} as const

/** As fetch wraps what a socket reports. */
function broken(code: string): Error {
  return new TypeError('fetch failed', {
    cause: Object.assign(new Error(`says ${code}`), { code }),
  })
}

test('a failure is told in words of its own or of its kind, with what is known', () => {
  const told = providerFailure('server', { ...context, requestId: 'r1' }, { words: 'is empty' })
  const stalled = providerFailure('timeout', context, { retryable: false })

  expect(told).toMatchObject({
    message: 'acme: is empty',
    kind: 'server',
    requestId: 'r1',
    retry: { retryable: true, replay: 'unsafe' },
  })
  expect(told.details).toBeUndefined()
  expect(stalled).toMatchObject({ message: 'acme: timed out', retry: { retryable: false } })
})

test('a connection that was never there makes a repeat safe', () => {
  const cause = broken('ECONNREFUSED')

  const refused = providerFailure('network', context, { cause })
  const cut = providerFailure('network', context, { cause: broken('ECONNRESET') })

  expect(refused).toMatchObject({
    message: 'acme: the connection failed (ECONNREFUSED)',
    retry: { replay: 'safe' },
    details: { code: 'ECONNREFUSED' },
  })
  expect(refused.cause).toBe(cause.cause)
  expect(cut.retry.replay).toBe('unsafe')
})

test('no key is in the cause of an error, and what credentials failed with is none at all', () => {
  const cause = new Error('cannot send secret-key-1')

  expect(providerFailure('network', context, { cause }).cause).toEqual(
    new Error('cannot send [key]'),
  )
  expect(providerFailure('auth', context, { cause }).cause).toBeUndefined()
})

test.each([
  [broken('ECONNRESET'), true, false],
  [broken('UND_ERR_HEADERS_TIMEOUT'), true, true],
  [new TypeError('terminated'), true, false],
  [new TypeError('x is not a function'), false, false],
  [Object.assign(new Error('no'), { code: 'invalid_url' }), false, false],
  ['terminated', false, false],
  [null, false, false],
])('%s is a network error: %s, a timeout: %s', (error, isNetwork, isTimeout) => {
  expect([isNetworkError(error), isNetworkTimeout(error)]).toEqual([isNetwork, isTimeout])
})

test('errors of another copy of a class are known by its name', () => {
  const copies = [0, 1].map(() => ({ SdkError: class SdkError extends Error {} }))
  const [first, second] = copies.map(({ SdkError }) => SdkError)
  class Narrow extends (second!) {}

  expect(isInstance(new Narrow(), first!)).toBe(true)
  expect(isInstance(new Error('other'), first!)).toBe(false)
  expect(isInstance(null, first!)).toBe(false)
})

test('what was said is read from text, calls and results, without the bytes of files', () => {
  const texts = conversationTexts({
    instructions: 'Be kind.',
    messages: [
      {
        id: '1',
        role: 'user',
        contents: [
          { type: 'text', text: 'Hello.' },
          { type: 'data', mediaType: 'image/png', data: 'aGk=' },
          { type: 'function-call', callId: 'c1', name: 'f', arguments: '[1]', index: undefined },
        ],
      },
    ],
    options: {},
    signal: new AbortController().signal,
  })

  expect(texts).toEqual(expect.arrayContaining(['Be kind.', 'Hello.', '[1]']))
  expect(texts).not.toContain('aGk=')
})

test('a value that no header can carry is refused without quoting it', () => {
  expect(() => checkHeader('acme: `key`', 'a\nsecret')).toThrow(
    new TypeError('acme: `key` holds a character that no header can carry, such as a line break'),
  )
  expect(() => checkHeader('acme: `key`', 'a-key')).not.toThrow()
  expect(() => checkHeader('acme: `key`', undefined)).not.toThrow()
})
