import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const wait = (headers: Record<string, string>, error: { message?: string; type?: string } = {}) =>
  retryAfterMs(new Headers(headers), { rateLimited: true, ...error }, now)

test.each([
  [{ 'retry-after-ms': '1250', 'retry-after': '2' }, 1250],
  [{ 'retry-after-ms': '3300.5' }, 3300.5],
  [{ 'retry-after': '20' }, 20_000],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sun, 01 Mar 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '59.369s' }, 59_369],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '120ms' }, 120],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '12' }, 12_000],
  [{ 'x-ratelimit-remaining-requests': '7', 'x-ratelimit-reset-requests': '1h' }, undefined],
  [
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1h2m3s',
    },
    3_723_000,
  ],
  [
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${now / 1000 + 9}` },
    9000,
  ],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${now + 9}` }, 9],
  [{}, undefined],
])('%j asks to wait %s ms', (headers, ms) => {
  expect(wait(headers as Record<string, string>)).toBe(ms)
})

test.each([
  ['Please try again in 1m30s.', 90_000],
  ['Please try again in 20s. Visit the site', 20_000],
  ['Rate limit is exceeded. Try again in 4 seconds.', 4000],
  ['Please retry after 2 seconds', 2000],
  ['try again in 350ms', 350],
  ['please try again later', undefined],
])('%j asks to wait %s ms where no header does', (message, ms) => {
  expect(wait({}, { message })).toBe(ms)
  expect(wait({ 'retry-after': '1' }, { message })).toBe(1000)
})

test('reset headers count only after a rate limit, and for the limit that was hit', () => {
  const headers = { 'x-ratelimit-reset-tokens': '5s', 'x-ratelimit-reset-requests': '9s' }

  expect(
    retryAfterMs(new Headers(headers), { rateLimited: false, type: 'tokens' }, now),
  ).toBeUndefined()
  expect(wait(headers, { type: 'tokens' })).toBe(5000)
  expect(wait(headers, { type: 'requests' })).toBe(9000)
})
