import type { ChatRequest, DataContent, UriContent } from '@lamella/core'
import type { FileLoss } from '@lamella/transport'
import { defined, mergeBody, prepareHistory, recordOf } from '@lamella/transport'
import type { ChatDialect, MaxTokensField } from '../dialects/chat-dialect.ts'
import { toMessageParams } from './completions-messages.ts'
import { fileSource, foreignFile } from '../requests/file-source.ts'
import type { OpenAIProviderOptions } from '../connection/openai-provider-options.ts'
import type { ApiRules, PreparedBody } from '../history/history-rules.ts'
import { historyRules } from '../history/history-rules.ts'
import { namedSchema } from '../requests/response-format.ts'
import { refusesSampling } from '../requests/refuses-sampling.ts'
import { completionsTools, toolParams } from '../requests/tool-params.ts'

/** How Chat Completions wants a history in this dialect. */
export function completionsHistory(dialect: ChatDialect): ApiRules {
  return {
    callIds: dialect.callIds,
    reasoning: ({ protected: sealed, providerData }) => {
      const { field, itemId } = recordOf(providerData)
      if (sealed !== undefined || itemId !== undefined) return 'lost'
      return typeof field === 'string' && dialect.thinking !== 'never' ? 'kept' : 'unwanted'
    },
    takesHosted: false,
    takesRefusals: dialect.refusals,
    fileLoss: (content) => foreignFile(content) ?? fileLoss(content, dialect),
  }
}

function fileLoss(
  content: DataContent | UriContent,
  { images, files = true, audio = true }: ChatDialect,
): FileLoss | undefined {
  const { kind, fileId, base64, url = '' } = fileSource(content)
  const isInline = base64 !== undefined || url.startsWith('data:')
  if (kind === 'image' && images === 'none')
    return { words: 'an image is left out', isLeftOut: true }
  if (kind === 'image') {
    return images === 'inline' && !isInline
      ? { words: 'an image behind an address is left out', isLeftOut: true }
      : undefined
  }
  const isNamed = fileId === undefined && !isInline
  if (kind === 'audio' && !audio && !isNamed) return { words: 'sound is left out', isLeftOut: true }
  if (kind === 'file' && !files && !isNamed) return { words: 'a file is left out', isLeftOut: true }
  return isNamed
    ? { words: 'a file behind an address is named, not shown', isLeftOut: false }
    : undefined
}

/** Options of a call that its model or server refuses. */
export function refusedOptions(
  { options }: Pick<ChatRequest, 'options'>,
  clientModel: string | undefined,
  { seedField }: ChatDialect,
): readonly ('temperature' | 'topP' | 'seed')[] {
  const isFixed = refusesSampling(options.model ?? clientModel, options)
  return [
    ...(isFixed ? (['temperature', 'topP'] as const) : []),
    ...(seedField === 'none' ? (['seed'] as const) : []),
  ]
}

export interface CompletionsSettings {
  readonly provider: string
  readonly model: string | undefined
  readonly dialect: ChatDialect
}

/** The body of a call of Chat Completions. */
export function completionsBody(
  request: ChatRequest,
  own: OpenAIProviderOptions,
  { provider, model, dialect }: CompletionsSettings,
): PreparedBody {
  const { messages, instructions, options } = request
  const rules = historyRules(completionsHistory(dialect), { provider, model })
  const history = prepareHistory(messages, rules)
  const params = toMessageParams(history.messages, instructions, dialect)
  const body = {
    messages: params.length > 0 ? params : [{ role: 'user', content: '' }],
    ...defined({
      model,
      [tokensField(dialect.maxTokensField, model)]: options.maxOutputTokens,
      ...(!refusesSampling(model, options) && {
        temperature: options.temperature,
        top_p: options.topP,
      }),
      stop: options.stop?.length === 0 ? undefined : options.stop,
      ...(dialect.seedField !== 'none' && { [dialect.seedField ?? 'seed']: options.seed }),
      reasoning_effort: options.reasoning?.effort,
      response_format: formatParam(request, dialect),
      metadata: options.metadata,
      user: options.user,
      store: own.store,
      service_tier: own.serviceTier,
      verbosity: own.verbosity,
      prompt_cache_key: own.promptCacheKey,
      prompt_cache_retention: own.promptCacheRetention,
      safety_identifier: own.safetyIdentifier,
    }),
    ...toolParams(options, own.strictTools ?? false, completionsTools(dialect.provider)),
  }
  return { body: mergeBody(body, own.extraBody), losses: history.losses }
}

function formatParam(
  { options: { responseFormat } }: ChatRequest,
  { jsonObject }: ChatDialect,
): unknown {
  if (responseFormat === undefined) return undefined
  if (responseFormat === 'text') return { type: 'text' }
  if (responseFormat === 'json') return jsonObject ? { type: 'json_object' } : anyObject
  return { type: 'json_schema', json_schema: namedSchema(responseFormat) }
}

const anyObject = {
  type: 'json_schema',
  json_schema: { name: 'response', schema: { type: 'object' } },
}

/** OpenAI's own models refuse the old name, many other servers do not know the new one. */
function tokensField(field: MaxTokensField, model: string | undefined): string {
  if (field !== 'auto') return field
  const isOpenAIModel = model === undefined || /(?:^|[/.:])(?:gpt-|o\d|chatgpt|codex)/i.test(model)
  return isOpenAIModel && !/gpt-oss/i.test(model ?? '') ? 'max_completion_tokens' : 'max_tokens'
}
