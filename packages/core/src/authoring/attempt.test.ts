import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { attemptOf } from '../authoring.ts'
import { chatResponse, ProviderError } from '../index.ts'

test('an attempt names the model of the call, else that of the client', () => {
  const client = scriptedClient(['Hello.'], { model: 'large' })

  expect(attemptOf({ client, options: { model: 'small' } }, { status: 'ok' }).model).toBe('small')
  expect(attemptOf({ client, options: {} }, { status: 'ok' }).model).toBe('large')
})

test('a failed attempt has the kind of the failure, and the usage until then', () => {
  const usage = { inputTokens: 3 }
  const error = new ProviderError('cut off', {
    kind: 'network',
    provider: 'scripted',
    partial: chatResponse({ messages: [], usage }),
  })

  const attempt = attemptOf({ client: scriptedClient([]), options: {} }, { error })

  expect(attempt).toEqual({ provider: 'scripted', status: 'failed', reason: 'network', usage })
})

test.each([undefined, null, 'a text', new Error('an error')])(
  'a failed attempt can be made from anything that was thrown: %s',
  (error) => {
    const call = { client: scriptedClient([]), options: {} }

    expect(attemptOf(call, { error })).toMatchObject({ status: 'failed', reason: 'error' })
  },
)
