import type { RateLimitHeaders } from '@lamella/transport'
import { untilMoment } from './retry-after.ts'

/** https://platform.claude.com/docs/en/api/rate-limits#response-headers, 2026-11. */
export const rateLimitHeaders: RateLimitHeaders = {
  windows: {
    requests: 'requests',
    tokens: 'tokens',
    inputTokens: 'input-tokens',
    outputTokens: 'output-tokens',
  },
  headerOf: (fact, window) => `anthropic-ratelimit-${window}-${fact}`,
  untilReset: untilMoment,
}
