import type { ChatOptions, ToolChoice, ToolDefinition } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import { toJsonSchema } from '@lamella/core/authoring'
import { checkOptions, checkChatOptions } from '@lamella/core/authoring'
import type { SchemaRules, WireObject } from '@lamella/transport'
import { defined, fitSchema, fitTools, recordOf, stringOf } from '@lamella/transport'
import type { CallableModel } from '../model/language-model.ts'

/**
 * Settings of the AI SDK without an option in Lamella, passed as `providerOptions.aiSdk` of a call.
 */
export interface AiSdkCallOptions {
  /** Samples only from this many of the most likely tokens. */
  readonly topK?: number | undefined
  /** Makes words of the prompt less likely. */
  readonly presencePenalty?: number | undefined
  /** Makes repeated words less likely. */
  readonly frequencyPenalty?: number | undefined
}

/** Options of a call in the words of the AI SDK, without its prompt. */
export interface CallSettings {
  readonly settings: WireObject
  /** Options of the call that the model has no field for. */
  readonly ignored: readonly string[]
}

const efforts = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
const withoutField = ['allowParallelToolCalls', 'user', 'metadata'] as const

/**
 * Translates the options of a call.
 * @throws ProviderError for another model than the client's, TypeError for an option that is not known
 */
export function callSettings(options: ChatOptions, model: CallableModel): CallSettings {
  checkChatOptions(options)
  const { specificationVersion: version, modelId, provider } = model
  if (options.model !== undefined && options.model !== modelId) {
    throw new ProviderError(
      `${provider}: this client is bound to the model ${modelId}; make another with \`aiSdk\``,
      { kind: 'invalid_request', provider },
    )
  }
  const { aiSdk = {}, ...providerOptions } = options.providerOptions ?? {}
  checkOptions('providerOptions.aiSdk', aiSdk as AiSdkCallOptions, {
    topK: 'any',
    presencePenalty: 'any',
    frequencyPenalty: 'any',
  })
  const ignored: string[] = withoutField.filter((name) => options[name] !== undefined)
  const { effort, summary } = options.reasoning ?? {}
  const hasEffort = effort !== undefined && version === 'v4' && efforts.has(effort)
  if ((effort !== undefined && !hasEffort) || summary !== undefined) ignored.push('reasoning')
  return {
    settings: {
      ...defined({
        maxOutputTokens: options.maxOutputTokens,
        temperature: options.temperature,
        topP: options.topP,
        seed: options.seed,
        stopSequences: options.stop,
        ...aiSdk,
        responseFormat: responseFormat(options.responseFormat),
        reasoning: hasEffort ? effort : undefined,
      }),
      ...toolSettings(options, model),
      ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
    },
    ignored,
  }
}

/** Rules for schemas of tools that hold for all models. */
export const toolSchemas: SchemaRules = { propertyName: /^[\w.-]{1,64}$/ }

/** Tools and the choice among them: none without a tool. */
function toolSettings(
  { tools: given = [], toolChoice }: ChatOptions,
  { specificationVersion: version }: Pick<CallableModel, 'specificationVersion'>,
): WireObject {
  const tools = fitTools(given, toolSchemas)
  if (tools.length === 0) return {}
  const chosen = typeof toolChoice === 'object' ? toolChoice.functionName : undefined
  const isOffered = chosen === undefined || tools.some(({ name }) => name === chosen)
  const choice = typeof toolChoice === 'function' || !isOffered ? undefined : toolChoice
  return {
    tools: tools.map((tool) => toolPart(tool, version)),
    ...(choice !== undefined && { toolChoice: choicePart(choice) }),
  }
}

function toolPart(
  tool: ToolDefinition,
  version: CallableModel['specificationVersion'],
): WireObject {
  if (tool.type === 'hosted') return hostedTool(tool.name, tool.definition, version)
  const { name, description, jsonSchema, metadata } = tool
  const inputSchema = fitSchema(jsonSchema, toolSchemas)!
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    inputSchema,
    ...recordOf(metadata?.['aiSdk']),
  }
}

function hostedTool(
  name: string,
  { id, args = {} }: WireObject,
  version: CallableModel['specificationVersion'],
): WireObject {
  if (!/^[^.]+\../.test(stringOf(id) ?? '')) {
    throw new TypeError(
      `tools: the hosted tool "${name}" needs an \`id\` such as 'openai.web_search' in its definition`,
    )
  }
  return { type: version === 'v2' ? 'provider-defined' : 'provider', id, name, args }
}

function choicePart(choice: ToolChoice): WireObject {
  return typeof choice === 'string'
    ? { type: choice }
    : { type: 'tool', toolName: choice.functionName }
}

/** A response format in the words of the AI SDK. */
function responseFormat(format: ChatOptions['responseFormat']): WireObject | undefined {
  if (format === undefined) return undefined
  if (typeof format === 'string') return { type: format }
  const schema = toJsonSchema(format.schema, 'responseFormat: the schema')
  return { type: 'json', schema, ...(format.name !== undefined && { name: format.name }) }
}
