import type { ChatOptions, ChatRequest } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { answerSchema, defined, listOf, mergeBody, recordOf } from '@lamella/transport'
import type { AnthropicProviderOptions } from './anthropic-provider-options.ts'
import type { MessagesDialect } from '../history/messages-dialect.ts'
import type { Input } from './messages-input.ts'
import { toInput } from './messages-input.ts'
import { outputSchema } from './output-schema.ts'
import { messagesHistory } from '../history/messages-history.ts'
import { cached, toolParams } from './tool-params.ts'

export interface RequestDefaults {
  readonly provider: string
  readonly model: string | undefined
  readonly dialect: MessagesDialect
  readonly maxOutputTokens: number
}

/** A request body, and what of the history it leaves out or changes. */
export interface PreparedBody {
  readonly body: Record<string, unknown>
  readonly losses: readonly string[]
}

/** The body of a call of the Messages API. */
export function messagesBody(
  request: ChatRequest,
  own: AnthropicProviderOptions,
  { provider, model, dialect, maxOutputTokens }: RequestDefaults,
): PreparedBody {
  const { messages, instructions, options } = request
  if (!model && own.extraBody?.['model'] === undefined) {
    throw new ProviderError(`${provider}: no model; pass \`model\` to the client or the call`, {
      kind: 'invalid_request',
      provider,
    })
  }
  const history = messagesHistory(messages, { provider, model, dialect })
  const { cacheControl, thinking = thinkingParam(options) } = own
  const input = toInput(history.messages, {
    hasPlaceForSystem: own.laterSystemMessages ?? takesLaterSystem(model),
    requiredThinking: dialect.requiredThinking && thinking?.['type'] !== 'disabled',
  })
  // Thinking counts as output, and its budget must be less than all of it.
  const budget = Number(thinking?.['budget_tokens'] ?? 0)
  const body = {
    ...defined({
      model,
      max_tokens: options.maxOutputTokens ?? maxOutputTokens + budget,
      system: systemParam(instructions, input, own),
      messages: messagesParam(input, own),
      stop_sequences: options.stop,
      thinking,
      output_config: outputConfig(options, own),
      metadata: userParam(own.metadata?.userId ?? options.user),
      service_tier: own.serviceTier,
      container: own.container,
      cache_control:
        typeof cacheControl === 'string' ? { type: 'ephemeral', ttl: cacheControl } : undefined,
    }),
    ...toolParams(options, own),
  }
  return { body: withFewBreakpoints(mergeBody(body, own.extraBody)), losses: history.losses }
}

const mostBreakpoints = 4

/** The API refuses a fifth breakpoint of the prompt cache: the earliest of the messages lose theirs. */
function withFewBreakpoints(body: Record<string, unknown>): Record<string, unknown> {
  const inFront = [body, ...listOf(body['system']), ...listOf(body['tools'])]
  let left = mostBreakpoints - inFront.filter(hasBreakpoint).length
  const messages = listOf(body['messages'])
  const kept = messages.toReversed().map((message) => {
    const content = listOf(recordOf(message)['content'])
    if (!content.some(hasBreakpoint)) return message
    const blocks = content.toReversed().map((block) => {
      if (!hasBreakpoint(block) || left-- > 0) return block
      const { cache_control: _, ...rest } = recordOf(block)
      return rest
    })
    return { ...recordOf(message), content: blocks.toReversed() }
  })
  return { ...body, messages: kept.toReversed() }
}

function hasBreakpoint(part: unknown): boolean {
  return recordOf(part)['cache_control'] != null
}

/**
 * Which models take system messages behind a turn of the user; all others answer with a 400.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, 2026-11.
 */
function takesLaterSystem(model = ''): boolean {
  return /claude-(opus-(4-8|5)|fable-5|mythos-5)/.test(model)
}

/** The options of a call that the API has no field for. */
export function ignoredOptions({ options }: ChatRequest): readonly string[] {
  const ignored = (['temperature', 'topP', 'seed', 'metadata'] as const).filter(
    (name) => options[name] !== undefined,
  )
  return options.responseFormat === 'json' ? [...ignored, 'responseFormat'] : ignored
}

/**
 * Tells if a retry may repeat an effect: remote tools act on the world, and code leaves files
 * in its container.
 */
export function replayOf(body: WireObject): 'safe' | 'unsafe' {
  const acts = listOf(body['tools']).some((tool) => {
    return /^(code_execution|mcp_toolset)/.test(String(recordOf(tool)['type']))
  })
  return acts || body['container'] || listOf(body['mcp_servers']).length > 0 ? 'unsafe' : 'safe'
}

function systemParam(
  instructions: string | undefined,
  { system }: Input,
  { cacheControl }: AnthropicProviderOptions,
): readonly WireObject[] | undefined {
  const own = instructions?.trim() ? [{ type: 'text', text: instructions }] : []
  const blocks = [...own, ...system]
  const time = typeof cacheControl === 'object' ? cacheControl.system : undefined
  if (time !== undefined && blocks.length > 0) blocks.push(cached(blocks.pop()!, time))
  return blocks.length > 0 ? blocks : undefined
}

function messagesParam(
  { messages }: Input,
  { cacheControl }: AnthropicProviderOptions,
): Input['messages'] {
  const time = typeof cacheControl === 'object' ? cacheControl.lastMessage : undefined
  const last = messages.at(-1)
  if (time === undefined || last === undefined) return messages
  const content = [...last.content]
  content.push(cached(content.pop()!, time))
  return [...messages.slice(0, -1), { ...last, content }]
}

/** Effort says how much is thought; a summary is only shown where the model is told to think. */
function thinkingParam({ reasoning }: ChatOptions): WireObject | undefined {
  if (reasoning?.effort === 'none') return { type: 'disabled' }
  if (reasoning?.summary === undefined) return undefined
  return { type: 'adaptive', display: reasoning.summary === 'none' ? 'omitted' : 'summarized' }
}

function outputConfig(
  { reasoning, responseFormat }: ChatOptions,
  own: AnthropicProviderOptions,
): WireObject | undefined {
  const asked = own.effort ?? reasoning?.effort
  const effort = asked === 'none' ? undefined : asked === 'minimal' ? 'low' : asked
  const format =
    typeof responseFormat === 'object'
      ? {
          type: 'json_schema',
          schema: outputSchema(answerSchema(responseFormat).schema),
        }
      : undefined
  return effort === undefined && format === undefined ? undefined : defined({ effort, format })
}

function userParam(id: string | undefined): WireObject | undefined {
  return id === undefined ? undefined : { user_id: id }
}
