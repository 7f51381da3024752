import type { ChatResponse, ProviderError } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { isOver } from './moderation-verdict.ts'
import type { ModerationScore } from '../moderators/moderator.ts'
import { record } from '../moderators/post-json.ts'

/** Finding of a provider's filter in one category. */
export interface ProviderFinding {
  readonly stage: 'input' | 'output'
  readonly category: string
  readonly severity?: number | undefined
  /** True if the content was filtered or exceeds the threshold; false if it was only detected. */
  readonly isOver: boolean
  /** True if the filter itself failed and the text passed unchecked. */
  readonly isFailure?: boolean | undefined
}

/** Reads the verdicts that `@lamella/openai`, `@lamella/google` and `@lamella/azure-openai` put on answers and on errors. */
export function providerFindings(
  source: ChatResponse | ProviderError,
  thresholds: Readonly<Record<string, number>>,
): { readonly refused: boolean; readonly findings: readonly ProviderFinding[] } {
  const isError = isProviderError(source)
  const verdict = (isError ? source.details : source.metadata)?.['contentFilter']
  const { prompt, completion } = record(verdict)
  const byStage =
    prompt === undefined && completion === undefined
      ? findingsOf(verdict, isError ? 'input' : 'output', thresholds)
      : [
          ...findingsOf(prompt, 'input', thresholds),
          ...findingsOf(completion, 'output', thresholds),
        ]
  const findings = byStage.toSorted((left, right) => Number(right.isOver) - Number(left.isOver))
  if (isError) return { refused: false, findings }
  const { finishReason, messages } = source
  if (finishReason === 'content-filter' && !findings.some((one) => one.isOver)) {
    findings.unshift({ stage: 'output', category: 'content_filter', isOver: true })
  }
  const refused =
    finishReason === 'refusal' ||
    messages.some(({ contents }) => contents.some(({ type }) => type === 'refusal'))
  return { refused, findings }
}

function findingsOf(
  results: unknown,
  stage: ProviderFinding['stage'],
  thresholds: Readonly<Record<string, number>>,
): ProviderFinding[] {
  if (Array.isArray(results)) {
    return results.flatMap((entry) => {
      const { content_filter_results: inner, source_type: source } = record(entry)
      const of = source === 'prompt' ? 'input' : source === 'completion' ? 'output' : stage
      return findingsOf(inner, of, thresholds)
    })
  }
  return Object.entries(record(results)).flatMap(([category, result]): ProviderFinding[] => {
    if (category === 'error') {
      return result ? [{ stage, category: 'filter_error', isOver: false, isFailure: true }] : []
    }
    const score = scoreOf(result)
    if (score === undefined || (score.score === 0 && !score.flagged)) return []
    return [{ stage, category, severity: score.score, isOver: isOver(category, score, thresholds) }]
  })
}

const severities: readonly unknown[] = ['safe', 'low', 'medium', 'high']

function scoreOf(result: unknown): ModerationScore | undefined {
  const { filtered, severity, detected } = record(result)
  if (typeof filtered !== 'boolean') return undefined
  const level = severities.indexOf(severity)
  const score = level >= 0 ? level / 3 : detected === true || filtered ? 1 : 0
  return { flagged: filtered, score }
}
