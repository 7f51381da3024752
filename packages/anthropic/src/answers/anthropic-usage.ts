import type { Usage } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf, unlessEmpty } from '@lamella/transport'

/**
 * The counts of a response. Anthropic counts what was read from and written to the prompt cache
 * beside `input_tokens`; here they are part of the input, as with every provider.
 */
export function toUsage(usage: unknown): Usage | undefined {
  const counts = recordOf(usage)
  const uncached = numberIn(counts, 'input_tokens')
  const cached = numberIn(counts, 'cache_read_input_tokens')
  const written = numberIn(counts, 'cache_creation_input_tokens')
  const output = numberIn(counts, 'output_tokens')
  const thinking = numberIn(recordOf(counts['output_tokens_details']), 'thinking_tokens')
  const anHour = numberIn(recordOf(counts['cache_creation']), 'ephemeral_1h_input_tokens')
  const server = recordOf(counts['server_tool_use'])
  const searches = numberIn(server, 'web_search_requests')
  const fetches = numberIn(server, 'web_fetch_requests')
  const input = uncached === undefined ? undefined : uncached + (cached ?? 0) + (written ?? 0)
  const known = {
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
    ...(input !== undefined && output !== undefined && { totalTokens: input + output }),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(anHour && { cacheWrite1hTokens: anHour }),
    ...(thinking !== undefined && { reasoningTokens: thinking }),
    ...(searches && { webSearchRequests: searches }),
    ...(fetches && { webFetchRequests: fetches }),
  }
  return unlessEmpty(known)
}

/** The counts so far: events tell them anew, with null for what they do not know. */
export function mergeCounts(known: WireObject, next: unknown): WireObject {
  // Gateways repeat counts of the start as 0 at the end.
  const told = Object.entries(recordOf(next)).filter(
    ([name, value]) => value != null && (value !== 0 || known[name] == null),
  )
  return { ...known, ...Object.fromEntries(told) }
}

function numberIn(counts: WireObject, field: string): number | undefined {
  const value = counts[field]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
