import type { CheckContext, GuardrailSubject, Verdict } from '@lamella/guardrail'
import { modelOfRun } from './call-limits.ts'
import type { MaxTokensOptions } from './max-tokens-options.ts'
import { exceedActions } from './max-tokens-options.ts'
import { fittingChars } from './text-pieces.ts'
import { counterFor } from './token-counter.ts'

/** Creates the check of single messages, arguments and results. */
export function textLimits(
  options: MaxTokensOptions,
): (subject: GuardrailSubject, context: CheckContext) => Promise<Verdict> {
  const { suffix = '…' } = options
  const actions = exceedActions(options.onExceed)
  const limits = {
    message: options.maxMessageTokens,
    arguments: options.maxToolArgumentsTokens,
    result: options.maxToolResultTokens,
  }

  return async ({ stage, text }, { run }) => {
    const kind = stage === 'input' ? 'message' : (stage as 'arguments' | 'result')
    const limit = limits[kind]!
    const { count, weigh, method } = await counterFor(run.state.get(modelOfRun), options)
    const tokens = count(text)
    if (tokens <= limit) return { action: 'allow' }
    const category = `max_${kind}_tokens`
    const action = actions[kind]
    if (action === 'truncate') {
      const start = fittingChars(text, weigh, limit - count(suffix))
      const spans = [{ start, end: text.length }]
      return { action: 'replace', category, replacement: suffix, spans }
    }
    const about = method === 'estimate' ? 'about ' : ''
    const words = `${subjects[kind]} ${about}${tokens} tokens, and ${limit} are allowed.`
    if (action === 'reject') return { action: 'retry', category, feedback: words }
    return { action: 'block', category, message: options.blockMessage ?? words }
  }
}

const subjects = {
  message: 'The message has',
  arguments: 'The arguments have',
  result: 'The result has',
}
