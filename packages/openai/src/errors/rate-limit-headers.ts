import type { RateLimitHeaders } from '@lamella/core/transport'
import { resetMs } from './retry-after.ts'

/** https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers, 2026-11. */
export const rateLimitHeaders: RateLimitHeaders = {
  windows: { requests: 'requests', tokens: 'tokens' },
  headerOf: (fact, window) => `x-ratelimit-${fact}-${window}`,
  untilReset: resetMs,
}
