import type { ChatMiddleware } from '@lamella/core'
import type { GuardrailStage, GuardrailMiddleware } from '@lamella/guardrail'
import { guardrail, guardrailOptions } from '@lamella/guardrail'
import { callLimits } from './call-limits.ts'
import type { MaxTokensOptions } from './max-tokens-options.ts'
import { checkMaxTokens } from './max-tokens-options.ts'
import { textLimits } from './text-limits.ts'

/**
 * Limits the tokens of model calls (input and output), messages, tool arguments and tool results.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { maxTokens } from '@lamella/guardrail-tokens'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({
 *   client: scriptedClient(['One two three four five six seven eight.'], { model: 'gpt-4o' }),
 *   middleware: maxTokens({ maxInputTokens: 50, maxOutputTokens: 5 }),
 * })
 *
 * const { text, finishReason } = await agent.run('Count to eight.')
 * console.log(text, finishReason) // One two three four five length
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function maxTokens(
  options: MaxTokensOptions = {},
): readonly (ChatMiddleware | GuardrailMiddleware<'chat'>)[] {
  checkMaxTokens(options)
  const { name = 'tokens', mode, maxMessageTokens } = options
  const { maxToolArgumentsTokens, maxToolResultTokens } = options
  const { maxInputTokens, maxOutputTokens, maxTotalTokens } = options
  if (mode === 'off') return []
  const middlewares: (ChatMiddleware | GuardrailMiddleware<'chat'>)[] = []

  const ofCalls = [maxInputTokens, maxOutputTokens, maxTotalTokens]
  const ofTexts = {
    input: maxMessageTokens,
    arguments: maxToolArgumentsTokens,
    result: maxToolResultTokens,
  }
  const applyTo = (['input', 'arguments', 'result'] as const).filter(
    (stage): stage is GuardrailStage & keyof typeof ofTexts => ofTexts[stage] !== undefined,
  )
  const isBare = applyTo.length === 0 && ofCalls.every((limit) => limit === undefined)
  if (isBare || ofCalls.some((limit) => limit !== undefined)) {
    const ofCall = callLimits(name, isBare ? { ...options, maxInputTokens: 4096 } : options)
    middlewares.push({ ...ofCall, inherited: true })
  }
  if (applyTo.length > 0) {
    middlewares.push(
      ...guardrail({
        ...guardrailOptions(options),
        name: `${name}-texts`,
        role: 'tokens',
        level: 'chat',
        applyTo,
        // Counts the text that is sent.
        readAs: 'raw',
        check: textLimits(options),
      }),
    )
  }
  return middlewares
}
