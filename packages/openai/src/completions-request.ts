import type { ChatRequest, ReasoningContent } from '@lamella/core'
import { recordOf } from '@lamella/core/transport'
import { toMessageParams } from './completions-messages.ts'
import type { OpenAIProviderOptions } from './openai-provider-options.ts'
import { prepareHistory } from './prepare-history.ts'
import { namedSchema } from './response-format.ts'
import { defined } from './responses-request.ts'
import { completionsDialect, toolParams } from './tool-params.ts'

/** How Chat Completions wants a history. */
export const completionsHistory = {
  longestCallId: 40,
  takesReasoning: ({ providerData }: ReasoningContent): boolean =>
    typeof recordOf(providerData)['field'] === 'string',
  takesHosted: false,
} as const

export type MaxTokensField = 'auto' | 'max_completion_tokens' | 'max_tokens'

export interface CompletionsSettings {
  readonly provider: string
  readonly model: string | undefined
  readonly maxTokensField: MaxTokensField
}

/** The body of a call of Chat Completions. */
export function completionsBody(
  request: ChatRequest,
  own: OpenAIProviderOptions,
  { provider, model, maxTokensField }: CompletionsSettings,
): Record<string, unknown> {
  const { messages, instructions, options } = request
  const rules = { ...completionsHistory, provider, model, isContinued: false }
  const params = toMessageParams(prepareHistory(messages, rules).messages, instructions)
  return {
    ...(model !== undefined && { model }),
    messages: params.length > 0 ? params : [{ role: 'user', content: '' }],
    ...defined({
      [tokensField(maxTokensField, model)]: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      stop: options.stop?.length === 0 ? undefined : options.stop,
      seed: options.seed,
      reasoning_effort: options.reasoning?.effort,
      response_format: formatParam(request),
      metadata: options.metadata,
      user: options.user,
      store: own.store,
      service_tier: own.serviceTier,
      verbosity: own.verbosity,
      prompt_cache_key: own.promptCacheKey,
      prompt_cache_retention: own.promptCacheRetention,
      safety_identifier: own.safetyIdentifier,
    }),
    ...toolParams(options, own.strictTools ?? false, completionsDialect),
    ...own.extraBody,
  }
}

function formatParam({ options: { responseFormat } }: ChatRequest): unknown {
  if (responseFormat === undefined) return undefined
  if (responseFormat === 'text') return { type: 'text' }
  if (responseFormat === 'json') return { type: 'json_object' }
  return { type: 'json_schema', json_schema: namedSchema(responseFormat) }
}

/** OpenAI's own models refuse the old name, many other servers do not know the new one. */
function tokensField(field: MaxTokensField, model: string | undefined): string {
  if (field !== 'auto') return field
  const isOpenAIModel =
    model === undefined || /^(?:ft:)?(?:openai\/)?(?:gpt-|o\d|chatgpt|codex)/.test(model)
  return isOpenAIModel && !/gpt-oss/.test(model ?? '') ? 'max_completion_tokens' : 'max_tokens'
}
