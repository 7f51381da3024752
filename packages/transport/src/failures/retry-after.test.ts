import { expect, test } from 'vitest'
import { headerUpdates, readRateLimits } from './rate-limit-window.ts'
import { nonNegative, retryAfterHeaderMs } from './retry-after.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

test.each<[Record<string, string>, number | undefined]>([
  [{ 'retry-after-ms': '1250', 'retry-after': '2' }, 1250],
  [{ 'retry-after-ms': 'soon', 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sun, 01 Mar 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
])('%j asks to wait %s ms', (headers, ms) => {
  expect(retryAfterHeaderMs(new Headers(headers), now)).toBe(ms)
})

test('a window holds what its headers say, and is none without any', () => {
  const inSeconds = (value: string): number | undefined => {
    const seconds = nonNegative(value.replace(/s$/, ''))
    return seconds === undefined ? undefined : seconds * 1000
  }
  const read = (headers?: Record<string, string>) =>
    readRateLimits(
      {
        windows: { requests: 'calls', tokens: 'tokens' },
        headerOf: (fact, window) => `x-${window}-${fact}`,
        untilReset: inSeconds,
      },
      headers && new Headers(headers),
      now,
    )

  expect(
    read({ 'x-calls-limit': '100', 'x-calls-remaining': '7', 'x-calls-reset': '30s' }),
  ).toEqual({ requests: { limit: 100, remaining: 7, resetAt: now + 30_000 } })
  expect(read({ 'x-tokens-remaining': '0', 'x-tokens-reset': 'later' })).toEqual({
    tokens: { remaining: 0 },
  })
  expect(read({ 'x-tokens-remaining': '0' })).toEqual({ tokens: { remaining: 0 } })
  expect(read({ 'x-calls-reset': '30s' })).toEqual({ requests: { resetAt: now + 30_000 } })
  expect(read({ 'x-calls-reset': 'later' })).toBeUndefined()
  expect(read()).toBeUndefined()
})

test('facts of the headers are metadata of an answer that has any', () => {
  const none = { rateLimit: undefined, requestId: undefined, headers: undefined }
  const headers = new Headers({ 'x-model': 'm', 'set-cookie': 'session=1' })

  expect(headerUpdates(none)).toEqual([])
  expect(headerUpdates({ ...none, rateLimit: { requests: { remaining: 7 } } })).toEqual([
    { contents: [], metadata: { rateLimit: { requests: { remaining: 7 } } } },
  ])
  expect(headerUpdates({ ...none, requestId: 'req_1', headers })).toEqual([
    { contents: [], metadata: { requestId: 'req_1', headers: { 'x-model': 'm' } } },
  ])
})
