import type { Usage } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import type { UsageFields } from '../dialects/chat-dialect.ts'
import { recordOf, unlessEmpty } from '@lamella/transport'

/** The counts of a response of either API, or nothing where there are none. `own` are fields of the server's own. */
export function toUsage(usage: unknown, own: UsageFields = {}): Usage | undefined {
  const counts = recordOf(usage)
  const input = recordOf(counts['input_tokens_details'] ?? counts['prompt_tokens_details'])
  const output = recordOf(counts['output_tokens_details'] ?? counts['completion_tokens_details'])
  const known = {
    ...count('inputTokens', counts, 'input_tokens', 'prompt_tokens'),
    ...count('outputTokens', counts, 'output_tokens', 'completion_tokens'),
    ...count('totalTokens', counts, 'total_tokens'),
    ...count('cachedInputTokens', counts, own.cachedInputTokens),
    ...count('cachedInputTokens', input, 'cached_tokens'),
    ...count('cacheWriteTokens', input, 'cache_write_tokens'),
    ...count('reasoningTokens', counts, own.reasoningTokens),
    ...count('reasoningTokens', output, 'reasoning_tokens'),
    ...(input['audio_tokens'] ? count('inputAudioTokens', input, 'audio_tokens') : undefined),
    ...(output['audio_tokens'] ? count('outputAudioTokens', output, 'audio_tokens') : undefined),
  }
  return unlessEmpty(known)
}

/** Counts without zeros for what is known to be more: servers end a stream with them. */
export function withoutZeros(counts: Usage | undefined, known: Usage): Usage | undefined {
  if (counts === undefined) return undefined
  const told = Object.entries(counts).filter(([name, value]) => value !== 0 || !known[name])
  return told.length > 0 ? Object.fromEntries(told) : undefined
}

function count(
  name: string,
  counts: WireObject,
  ...fields: readonly (string | undefined)[]
): Usage {
  for (const field of fields) {
    if (field === undefined) continue
    const value = counts[field]
    if (typeof value === 'number' && Number.isFinite(value)) return { [name]: value }
  }
  return {}
}
