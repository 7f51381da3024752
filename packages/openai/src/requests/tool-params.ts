import type { ChatOptions, JsonSchema, ToolDefinition } from '@lamella/core'
import type { HostedTool } from '@lamella/core/authoring'
import { stringOf } from '@lamella/transport'
import { strictSchema } from './strict-schema.ts'

/** How one API writes a function tool and the wish for one. */
export interface ToolDialect {
  readonly functionTool: (tool: FunctionParams) => unknown
  readonly functionChoice: (name: string) => unknown
  readonly hostedChoice: (type: string, definition: HostedTool['definition']) => unknown
}

export interface FunctionParams {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly strict: boolean
  /** The model finds the tool by a search of the provider's. */
  readonly isDeferred: boolean
}

export const responsesDialect: ToolDialect = {
  functionTool: ({ isDeferred, ...tool }) => ({
    type: 'function',
    ...tool,
    ...(isDeferred && { defer_loading: true }),
  }),
  functionChoice: (name) => ({ type: 'function', name }),
  hostedChoice: (type, { name, server_label: server }) => ({
    type,
    ...(type === 'custom' && { name }),
    ...(type === 'mcp' && { server_label: server }),
  }),
}

export const completionsDialect: ToolDialect = {
  functionTool: ({ strict, name, description, parameters }) => ({
    type: 'function',
    // Servers that only resemble OpenAI's may not know the field.
    function: { name, description, parameters, ...(strict && { strict }) },
  }),
  functionChoice: (name) => ({ type: 'function', function: { name } }),
  hostedChoice: (type, { name, custom }) =>
    type === 'custom' ? { type, custom: { name: stringOf(name) ?? nameIn(custom) } } : { type },
}

/** The fields of the request that are about tools: none without a tool, as the API wants it. */
export function toolParams(
  { tools = [], toolChoice, allowParallelToolCalls }: ChatOptions,
  strictTools: boolean,
  dialect: ToolDialect,
): Readonly<Record<string, unknown>> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map((tool) => toolParam(tool, strictTools, dialect)),
    ...(toolChoice !== undefined && { tool_choice: choiceParam(toolChoice, tools, dialect) }),
    ...(allowParallelToolCalls !== undefined && { parallel_tool_calls: allowParallelToolCalls }),
  }
}

function toolParam(tool: ToolDefinition, strictTools: boolean, dialect: ToolDialect): unknown {
  if (tool.type === 'hosted') return { type: tool.name, ...tool.definition }
  const { name, description, jsonSchema, metadata } = tool
  const strict = strictTools ? strictSchema(jsonSchema) : undefined
  return dialect.functionTool({
    name,
    description,
    parameters: strict ?? withProperties(jsonSchema),
    strict: strict !== undefined,
    isDeferred: metadata?.['deferLoading'] === true,
  })
}

/** OpenAI refuses an object schema without `properties`. */
function withProperties(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'object' && schema['properties'] === undefined
    ? { ...schema, properties: {} }
    : schema
}

function choiceParam(
  choice: NonNullable<ChatOptions['toolChoice']>,
  tools: readonly ToolDefinition[],
  dialect: ToolDialect,
): unknown {
  // A request holds the choice and no function; what a direct caller leaves is decided by the model.
  if (typeof choice === 'function') return 'auto'
  if (typeof choice === 'string') return choice
  const { functionName } = choice
  const tool = tools.find(({ name }) => name === functionName)
  if (tool?.type !== 'hosted') return dialect.functionChoice(functionName)
  return dialect.hostedChoice(stringOf(tool.definition['type']) ?? tool.name, tool.definition)
}

function nameIn(custom: unknown): unknown {
  return typeof custom === 'object' && custom !== null && 'name' in custom ? custom.name : undefined
}
