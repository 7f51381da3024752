import type { Middleware } from '@anthropic-ai/sdk'
import { APIError } from '@anthropic-ai/sdk'
import { retryAfterMs } from '../errors/retry-after.ts'

const longestMs = 60_000

/**
 * Fails at once where the answer asks to wait longer than a minute before the next attempt. The SDK
 * would wait, for hours too; a wait that long is for a middleware or the caller to decide on.
 */
export const refuseLongWaits: Middleware = async (request, next) => {
  const response = await next(request)
  const waitMs = response.ok ? undefined : retryAfterMs(response.headers, false)
  if (waitMs === undefined || waitMs <= longestMs) return response
  const text = await response.text()
  throw APIError.generate(response.status, parsed(text), text, response.headers)
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
