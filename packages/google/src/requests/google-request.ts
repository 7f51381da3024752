import type { ChatOptions, ChatRequest, Message } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import { toJsonSchema } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { defined, listOf, mergeBody, recordOf, unlessEmpty } from '@lamella/transport'
import { googleHistory } from '../history/google-history.ts'
import type { ModelTraits } from '../models/model-traits.ts'
import { modelTraits } from '../models/model-traits.ts'
import type { ContentRules } from './contents.ts'
import { systemTexts, toContents } from './contents.ts'
import type { GoogleProviderOptions, SafetySetting } from './google-provider-options.ts'
import { googleSchema } from './google-schema.ts'
import type { OmittedTool } from './tool-params.ts'
import { sentTools, toolParams } from './tool-params.ts'

export interface RequestDefaults {
  readonly provider: string
  readonly model: string | undefined
  readonly isVertex: boolean
  readonly safetySettings: readonly SafetySetting[] | undefined
}

/** A request body, and what the answer must know of it. */
export interface PreparedBody {
  readonly body: Record<string, unknown>
  /** Names of the tools, by those that Google is told. */
  readonly toolNames: ReadonlyMap<string, string>
  /** Parts that the request leaves out, for the metadata of the answer. */
  readonly notes: Readonly<Record<string, unknown>>
  /** Tools that the request leaves out. */
  readonly omitted: readonly OmittedTool[]
  /** The messages that it sends, and how they are written. */
  readonly history: readonly Message[]
  readonly rules: ContentRules
}

/** The model of a call. @throws ProviderError without one, or for one that is no name */
export function modelOf(request: ChatRequest, { provider, model }: RequestDefaults): string {
  const name = request.options.model ?? model
  // It becomes a part of the address.
  if (name && /^(?!.*(^|\/)\.\.?(\/|$))[\w.@-]+(\/[\w.@-]+)*$/.test(name)) return name
  const words = name
    ? 'the model is no name of one'
    : 'no model; pass `model` to the client or the call'
  throw new ProviderError(`${provider}: ${words}`, { kind: 'invalid_request', provider })
}

/** The body of `generateContent`. */
export function googleBody(
  request: ChatRequest,
  own: GoogleProviderOptions,
  defaults: RequestDefaults,
): PreparedBody {
  const { messages, instructions, options } = request
  const { provider, isVertex } = defaults
  const model = modelOf(request, defaults)
  const traits = modelTraits(model)
  const tools = options.tools ?? []
  const history = googleHistory(messages, { provider, model })
  const sent = sentTools(tools, traits)
  const format = formatParams(options, traits, sent.declarations.length + sent.hosted.length > 0)
  const system = [instructions ?? '', ...systemTexts(history.messages), format.words ?? ''].filter(
    (text) => text.trim() !== '',
  )
  const { cachedContent } = own
  const rules = { provider, model, traits, hasCallIds: !isVertex }
  const contents = toContents(history.messages, rules)
  // A cached content has a system prompt and tools of its own, and Google refuses others beside it.
  const isCached = typeof cachedContent === 'string'
  const body = defined({
    contents: traits.takesInstructions ? contents : withSystem(contents, system),
    systemInstruction:
      traits.takesInstructions && !isCached && system.length > 0
        ? { parts: system.map((text) => ({ text })) }
        : undefined,
    ...(!isCached && toolParams(sent, options, own, isVertex)),
    generationConfig: generationConfig(options, own, traits, format.fields),
    safetySettings: own.safetySettings ?? defaults.safetySettings,
    cachedContent: isCached ? cachedContent : undefined,
    serviceTier: own.serviceTier,
    labels: own.labels,
  })
  const ignored = ignoredOptions(options, traits)
  return {
    body: mergeBody(body, own.extraBody),
    toolNames: sent.names,
    omitted: sent.omitted,
    history: history.messages,
    rules,
    notes: {
      ...(ignored.length > 0 && { ignoredOptions: ignored }),
      ...(history.losses.length > 0 && { losses: history.losses }),
      ...(sent.omitted.length > 0 && { omittedTools: sent.omitted }),
    },
  }
}

/** Tells if a retry may repeat an effect: remote tools act on the world. */
export function replayOf(body: WireObject): 'safe' | 'unsafe' {
  return listOf(body['tools']).some((tool) => recordOf(tool)['mcpServers'] !== undefined)
    ? 'unsafe'
    : 'safe'
}

/** The options of a call that the API has no field for. */
function ignoredOptions(options: ChatOptions, { thinking }: ModelTraits): readonly string[] {
  const ignored = (['metadata', 'user'] as const).filter((name) => options[name] !== undefined)
  return [
    ...ignored,
    ...(options.allowParallelToolCalls === false ? ['allowParallelToolCalls'] : []),
    ...(options.reasoning !== undefined && thinking === 'none' ? ['reasoning'] : []),
  ]
}

function generationConfig(
  { temperature, topP, maxOutputTokens, stop, seed, reasoning }: ChatOptions,
  { thinkingConfig, responseModalities, mediaResolution }: GoogleProviderOptions,
  traits: ModelTraits,
  format: WireObject,
): WireObject | undefined {
  const thinking = { ...thinkingOf(reasoning, traits), ...thinkingConfig }
  const config = defined({
    temperature,
    topP,
    maxOutputTokens,
    stopSequences: stop,
    seed,
    ...format,
    responseModalities,
    mediaResolution,
    thinkingConfig: unlessEmpty(thinking),
  })
  return unlessEmpty(config)
}

// https://ai.google.dev/gemini-api/docs/openai#thinking, 2026-11.
const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
}

function thinkingOf(reasoning: ChatOptions['reasoning'], traits: ModelTraits): WireObject {
  const { thinking, leastThinking, thinksHardest } = traits
  if (reasoning === undefined || thinking === 'none') return {}
  const { effort, summary } = reasoning
  const shown = summary === undefined ? {} : { includeThoughts: summary !== 'none' }
  if (effort === undefined) return shown
  if (thinking === 'budget') {
    const budget = effort === 'none' ? leastThinking : (budgets[effort] ?? budgets['high'])
    return { ...shown, thinkingBudget: budget }
  }
  if (effort === 'none' || effort === 'minimal') return { ...shown, thinkingLevel: leastThinking }
  const isHigher = effort !== 'low' && effort !== 'medium' && effort !== 'high'
  const level = isHigher ? (thinksHardest ? 'xhigh' : 'high') : effort
  return { ...shown, thinkingLevel: level.toUpperCase() }
}

interface FormatParams {
  readonly fields: WireObject
  /** The format in words, for the system prompt, where the model takes none beside tools. */
  readonly words?: string
}

function formatParams(
  { responseFormat = 'text' }: ChatOptions,
  { isModern }: ModelTraits,
  hasTools: boolean,
): FormatParams {
  if (responseFormat === 'text') return { fields: {} }
  const json = { responseMimeType: 'application/json' }
  const isTaken = isModern || !hasTools
  if (responseFormat === 'json') {
    return isTaken ? { fields: json } : { fields: {}, words: 'Answer with JSON and nothing else.' }
  }
  const described = toJsonSchema(responseFormat.schema, 'responseFormat: the schema')
  const { schema } = googleSchema(described)
  if (isTaken && schema !== undefined) return { fields: { ...json, responseJsonSchema: schema } }
  return {
    fields: isTaken ? json : {},
    words: `Answer with JSON and nothing else. It must fit this JSON Schema: ${JSON.stringify(described)}`,
  }
}

function withSystem(
  contents: readonly { readonly role: string; readonly parts: readonly WireObject[] }[],
  system: readonly string[],
): readonly WireObject[] {
  const [first, ...others] = contents
  if (first === undefined || system.length === 0) return contents
  const parts = [...system.map((text) => ({ text: `${text}\n\n` })), ...first.parts]
  return [{ ...first, parts }, ...others]
}
