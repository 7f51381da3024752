import type { Usage } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf } from '@lamella/transport'
import type { AiSdkVersion } from './language-model.ts'

/** Token counts of a result: nested in v3 and v4, flat in v2. */
export function toUsage(told: unknown): Usage | undefined {
  const { inputTokens: input, outputTokens: output, ...flat } = recordOf(told)
  const isFlat = typeof input !== 'object' && typeof output !== 'object'
  const counts = isFlat
    ? {
        inputTokens: input,
        outputTokens: output,
        cachedInputTokens: flat['cachedInputTokens'],
        reasoningTokens: flat['reasoningTokens'],
      }
    : {
        inputTokens: recordOf(input)['total'],
        outputTokens: recordOf(output)['total'],
        cachedInputTokens: recordOf(input)['cacheRead'],
        cacheWriteTokens: recordOf(input)['cacheWrite'],
        reasoningTokens: recordOf(output)['reasoning'],
      }
  const known: Record<string, number> = {}
  for (const [counter, value] of Object.entries(counts)) {
    if (typeof value === 'number' && Number.isFinite(value)) known[counter] = value
  }
  const { inputTokens, outputTokens } = known
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const total = isFlat ? flat['totalTokens'] : undefined
  const totalTokens = typeof total === 'number' ? total : (inputTokens ?? 0) + (outputTokens ?? 0)
  return { ...known, totalTokens }
}

/** The same counts in the words of a specification. */
export function fromUsage(usage: Usage, version: AiSdkVersion, raw: unknown): WireObject {
  const { inputTokens, outputTokens, totalTokens } = usage
  const { cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage
  if (version === 'v2') {
    return { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens }
  }
  return {
    inputTokens: {
      total: inputTokens,
      noCache: rest(inputTokens, cachedInputTokens, cacheWriteTokens),
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens,
    },
    outputTokens: {
      total: outputTokens,
      text: rest(outputTokens, reasoningTokens),
      reasoning: reasoningTokens,
    },
    ...(raw !== undefined && { raw }),
  }
}

function rest(total: number | undefined, ...parts: (number | undefined)[]): number | undefined {
  if (total === undefined) return undefined
  return Math.max(
    0,
    parts.reduce<number>((left, part) => left - (part ?? 0), total),
  )
}
