import type { ChatContext, ChatMiddleware, ProviderError } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { GuardrailTripped, isProviderError } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { defineChatMiddleware, reporter } from '@lamella/core/authoring'
import type { ProviderFinding } from './provider-findings.ts'
import { providerFindings } from './provider-findings.ts'

export interface ProviderFilterOptions extends MiddlewareOptions<ChatContext, GuardrailEvent> {
  readonly name: string
  readonly thresholds: Readonly<Record<string, number>>
  readonly filtered: 'block' | 'flag'
  readonly refusals: 'block' | 'flag' | 'allow'
  readonly onError: 'closed' | 'open'
  readonly blockMessage?: string | undefined
}

/** Creates the middleware that turns findings of the provider's own filter into a verdict. */
export function providerFilter(options: ProviderFilterOptions): ChatMiddleware {
  const { name, thresholds, filtered, refusals, mode, onEvent, blockMessage } = options
  const report = reporter<GuardrailEvent>('guardrail', onEvent)

  const conclude = (
    { run }: ChatContext,
    finding: ProviderFinding,
    action: 'block' | 'flag',
    cause?: ProviderError,
  ): void => {
    const { stage, category, severity, isFailure } = finding
    const acted = isFailure ? 'error' : action === 'block' ? 'blocked' : 'flagged'
    report(run, {
      guardrail: name,
      stage,
      status: mode === 'shadow' && !isFailure ? 'shadow' : acted,
      category,
      ...(severity !== undefined && { severity }),
    })
    if (action === 'flag' || mode === 'shadow') return
    const block = { guardrail: name, level: 'chat', stage, category } as const
    throw new GuardrailTripped({ ...block, message: blockMessage ?? '' }, { cause })
  }

  return defineChatMiddleware('content', options, async (context, callNext) => {
    try {
      const response = await callNext()
      const { refused, findings } = providerFindings(response, thresholds)
      for (const finding of findings) {
        if (finding.isFailure)
          conclude(context, finding, options.onError === 'open' ? 'flag' : 'block')
        else conclude(context, finding, finding.isOver ? filtered : 'flag')
      }
      if (refused && refusals !== 'allow') {
        conclude(context, { stage: 'output', category: 'refusal', isOver: true }, refusals)
      }
    } catch (error) {
      if (!isProviderError(error) || error.kind !== 'content_filter') throw error
      const { findings } = providerFindings(error, thresholds)
      const found = findings.find(({ isOver }) => isOver)
      const unknown = { stage: 'input', category: 'content_filter', isOver: true } as const
      conclude(context, found ?? unknown, filtered, error)
      throw error
    }
  })
}
