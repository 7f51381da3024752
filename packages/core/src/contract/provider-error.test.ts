import { expect, it } from 'vitest'
import { chatResponse, ProviderError } from '../index.ts'
import { withoutPartial } from './provider-error.ts'

const options = { kind: 'overloaded', provider: 'acme' } as const

function cut(text: string): ProviderError {
  return new ProviderError('cut', { ...options, partial: chatResponse(text) })
}

it('a provider error has what is known of the failure', () => {
  const known = { ...options, status: 529, requestId: 'r1', details: { region: 'eu' } }

  expect(new ProviderError('busy', known)).toMatchObject(known)
})

it('a provider error advises a retry by its kind, unless the provider says otherwise', () => {
  const retryOf = (more: object) => new ProviderError('failed', { ...options, ...more }).retry

  expect(retryOf({})).toEqual({ retryable: true, replay: 'safe' })
  expect(retryOf({ kind: 'auth' })).toEqual({ retryable: false, replay: 'safe' })
  expect(retryOf({ retry: { retryable: false, afterMs: 5, replay: 'unsafe' } })).toEqual({
    retryable: false,
    afterMs: 5,
    replay: 'unsafe',
  })
})

it.each([Number.NaN, -1000, 'soon', null])('%o is no advice how long to wait', (afterMs) => {
  const retry = { afterMs: afterMs as number }

  const error = new ProviderError('busy', { ...options, retry })

  expect(error.retry).toEqual({ retryable: true, replay: 'safe' })
})

it('messages are removed from an error and from all that it was caused by', () => {
  const first = cut('first')
  const second = cut('second')
  const both = new AggregateError([first, second], 'both')
  const outer = new Error('outer', { cause: both })

  expect(withoutPartial(outer)).toBe(outer)
  for (const error of [first, second]) {
    expect(error.partial).toMatchObject({ messages: [], text: '', functionCalls: [] })
    expect(Object.keys(error)).not.toContain('partial')
  }
})

it('messages are removed from errors that have caused each other', () => {
  const first = cut('first')
  const second = new Error('second', { cause: first })
  first.cause = second

  withoutPartial(second)

  expect(first.partial?.text).toBe('')
})

it('an error that holds no response stays as it is', () => {
  const own = Object.assign(new Error('own', { cause: 'a text' }), { partial: { text: 'own' } })
  const refused = new ProviderError('refused', { ...options, cause: own })

  withoutPartial(refused)

  expect([refused.partial, own.partial]).toEqual([undefined, { text: 'own' }])
})
