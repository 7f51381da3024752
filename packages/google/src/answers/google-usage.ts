import type { Usage } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { defined, recordOf, unlessEmpty } from '@lamella/transport'

/**
 * The counts of a response. Google counts thinking beside the answer, and results of hosted tools beside
 * the prompt; here they are part of the output and of the input, as with every provider.
 */
export function toUsage(usage: unknown): Usage | undefined {
  const counts = recordOf(usage)
  const prompt = numberIn(counts, 'promptTokenCount')
  const fromTools = numberIn(counts, 'toolUsePromptTokenCount')
  const said = numberIn(counts, 'candidatesTokenCount')
  const thought = numberIn(counts, 'thoughtsTokenCount')
  const input = sum(prompt, fromTools)
  const output = sum(said, thought)
  const known = defined({
    inputTokens: input,
    outputTokens: output,
    totalTokens: numberIn(counts, 'totalTokenCount') ?? sum(input, output),
    cachedInputTokens: numberIn(counts, 'cachedContentTokenCount'),
    reasoningTokens: thought,
    toolInputTokens: fromTools,
  })
  return unlessEmpty(known)
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : left + (right ?? 0)
}

function numberIn(counts: WireObject, field: string): number | undefined {
  const value = counts[field]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
