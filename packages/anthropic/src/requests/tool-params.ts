import type { ChatOptions, JsonSchema, ToolDefinition } from '@lamella/core'
import type { HostedTool } from '@lamella/core/authoring'
import type { SchemaRules, WireObject } from '@lamella/transport'
import { fitSchema, fitTools, recordOf, stringOf } from '@lamella/transport'
import type { AnthropicProviderOptions, CacheTime } from './anthropic-provider-options.ts'
import { outputSchema } from './output-schema.ts'

/** Rules of the API for schemas of tools. */
export const toolSchemas: SchemaRules = { propertyName: /^[\w.-]{1,64}$/ }

/** The fields of the request that are about tools: none without a tool, as the API wants it. */
export function toolParams(
  { tools: given = [], toolChoice, allowParallelToolCalls }: ChatOptions,
  { strictTools = false, cacheControl }: AnthropicProviderOptions,
): WireObject {
  const tools = fitTools(given, toolSchemas)
  if (tools.length === 0) return {}
  const params = tools.map((tool) => toolParam(tool, strictTools))
  const time = typeof cacheControl === 'object' ? cacheControl.tools : undefined
  if (time !== undefined) params.push(cached(params.pop()!, time))
  const chosen = typeof toolChoice === 'object' ? toolChoice.functionName : undefined
  const isOffered = chosen === undefined || tools.some(({ name }) => name === chosen)
  const choice = isOffered ? choiceParam(toolChoice, tools) : undefined
  const isOneByOne = allowParallelToolCalls === false && choice?.['type'] !== 'none'
  return {
    tools: params,
    ...((choice ?? isOneByOne) && {
      tool_choice: {
        ...(choice ?? { type: 'auto' }),
        ...(isOneByOne && { disable_parallel_tool_use: true }),
      },
    }),
  }
}

/** A breakpoint of the prompt cache at the end of this block. */
export function cached(block: WireObject, ttl: CacheTime): WireObject {
  return { ...block, cache_control: { type: 'ephemeral', ttl } }
}

function toolParam(tool: ToolDefinition, strict: boolean): WireObject {
  if (tool.type === 'hosted') return hostedParam(tool)
  const { name, description, jsonSchema, metadata } = tool
  const schema = fitSchema(jsonSchema, toolSchemas)!
  const isStrict = strict && !hasMap(schema)
  return {
    name,
    ...(description !== '' && { description }),
    input_schema: isStrict ? outputSchema(schema) : schema,
    ...(isStrict && { strict: true }),
    ...(metadata?.['deferLoading'] === true && { defer_loading: true }),
    ...recordOf(metadata?.['anthropic']),
  }
}

function hostedParam({ name, definition }: HostedTool): WireObject {
  const type = stringOf(definition['type'])
  if (type === undefined) {
    throw new TypeError(
      `tools: the hosted tool "${name}" needs a \`type\` with its version, such as 'web_search_20260318'`,
    )
  }
  // A toolset declares several tools, and has no name of its own.
  return type.includes('toolset') ? definition : { name, ...definition }
}

function choiceParam(
  choice: ChatOptions['toolChoice'],
  tools: readonly ToolDefinition[],
): WireObject | undefined {
  // A request holds the choice and no function; what a direct caller leaves is decided by the model.
  if (choice === undefined || typeof choice === 'function') return undefined
  if (choice === 'required') return { type: 'any' }
  if (typeof choice === 'string') return { type: choice }
  const chosen = tools.find(({ name }) => name === choice.functionName)
  const own = chosen?.type === 'hosted' ? stringOf(chosen.definition['name']) : undefined
  return { type: 'tool', name: own ?? choice.functionName }
}

/** A map of anything has no strict form. */
function hasMap(schema: JsonSchema): boolean {
  return Object.entries(schema).some(([word, part]) => {
    if (word === 'additionalProperties') return typeof part === 'object'
    return typeof part === 'object' && part !== null && hasMap(part as JsonSchema)
  })
}
