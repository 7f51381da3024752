import type { ChatRequest, ReasoningContent } from '@lamella/core'
import { defined, mergeBody, prepareHistory, recordOf } from '@lamella/transport'
import type { OpenAIProviderOptions } from '../connection/openai-provider-options.ts'
import { foreignFile } from '../requests/file-source.ts'
import type { ApiRules, PreparedBody } from '../history/history-rules.ts'
import { historyRules } from '../history/history-rules.ts'
import { namedSchema } from '../requests/response-format.ts'
import { refusesSampling } from '../requests/refuses-sampling.ts'
import { toInput } from './responses-input.ts'
import { responsesDialect, toolParams } from '../requests/tool-params.ts'

const encryptedReasoning = 'reasoning.encrypted_content'

/** How the Responses API wants a history. */
export const responsesHistory: ApiRules = {
  callIds: { maxLength: 64 },
  // A field is where a Chat Completions server put its thinking: there is no such item here.
  reasoning: ({ providerData }: ReasoningContent) =>
    recordOf(providerData)['field'] === undefined ? 'kept' : 'lost',
  takesHosted: true,
  takesRefusals: true,
  fileLoss: foreignFile,
}

/** The body of a call of the Responses API. */
export function responsesBody(
  request: ChatRequest,
  own: OpenAIProviderOptions,
  { provider, model }: { readonly provider: string; readonly model: string | undefined },
): PreparedBody {
  const { messages, instructions, options } = request
  const isContinued = own.conversation !== undefined
  const rules = historyRules(responsesHistory, { provider, model, isContinued })
  const history = prepareHistory(messages, rules)
  const input = toInput(history.messages)
  // What is made in the background has to be kept until it is fetched.
  const background = own.background ? true : undefined
  const store = own.store ?? (isContinued || background ? undefined : false)
  const include = new Set(own.include)
  // Kept nowhere else, the reasoning must travel with the history.
  if (store === false && isReasoning(model, options)) include.add(encryptedReasoning)
  const body = {
    input: input.length > 0 ? input : [{ role: 'user', content: '' }],
    ...defined({
      model,
      instructions,
      ...conversationField(own.conversation),
      store,
      background,
      include: include.size > 0 ? [...include] : undefined,
      max_output_tokens: options.maxOutputTokens,
      ...(!refusesSampling(model, options) && {
        temperature: options.temperature,
        top_p: options.topP,
      }),
      reasoning:
        options.reasoning &&
        defined({ effort: options.reasoning.effort, summary: options.reasoning.summary }),
      text: textParams(request, own),
      metadata: options.metadata,
      user: options.user,
      service_tier: own.serviceTier,
      prompt_cache_key: own.promptCacheKey,
      prompt_cache_retention: own.promptCacheRetention,
      safety_identifier: own.safetyIdentifier,
      max_tool_calls: own.maxToolCalls,
      truncation: own.truncation,
    }),
    ...toolParams(options, own.strictTools ?? false, responsesDialect),
  }
  return { body: mergeBody(body, own.extraBody), losses: history.losses }
}

/** `conv_…` is a conversation that OpenAI keeps, anything else the response to continue. */
export function conversationField(id: string | undefined): Record<string, unknown> {
  if (id === undefined) return {}
  return id.startsWith('conv_') ? { conversation: id } : { previous_response_id: id }
}

function textParams(
  { options: { responseFormat } }: ChatRequest,
  { verbosity }: OpenAIProviderOptions,
): unknown {
  const format =
    responseFormat === undefined
      ? undefined
      : responseFormat === 'text'
        ? { type: 'text' }
        : responseFormat === 'json'
          ? { type: 'json_object' }
          : { type: 'json_schema', ...namedSchema(responseFormat) }
  return format === undefined && verbosity === undefined
    ? undefined
    : defined({ format, verbosity })
}

/** Other models refuse to be asked for encrypted reasoning. */
function isReasoning(model: string | undefined, { reasoning }: ChatRequest['options']): boolean {
  if (reasoning?.effort !== undefined && reasoning.effort !== 'none') return true
  return isReasoningModel(model ?? '')
}

function isReasoningModel(model: string): boolean {
  return /^(?:.*[/.])?(?:o\d|gpt-(?:[5-9]|\d\d)|codex)/.test(model) && !/chat/.test(model)
}

/**
 * Tells if a retry may repeat an effect: a conversation that OpenAI keeps grows with every
 * call, and remote tools act on the world.
 */
export function responsesReplay(body: Readonly<Record<string, unknown>>): 'safe' | 'unsafe' {
  const acts = new Set([
    'mcp',
    'computer',
    'computer_use_preview',
    'shell',
    'local_shell',
    'code_interpreter',
  ])
  const tools = Array.isArray(body['tools']) ? body['tools'] : []
  const isActing = tools.some((tool: unknown) => acts.has(String(recordOf(tool)['type'])))
  return isActing || body['conversation'] || body['background'] ? 'unsafe' : 'safe'
}
