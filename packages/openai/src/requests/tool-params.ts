import type { ChatOptions, JsonSchema, ToolDefinition } from '@lamella/core'
import type { HostedTool } from '@lamella/core/authoring'
import type { SchemaRules } from '@lamella/transport'
import { fitSchema, fitTools, stringOf } from '@lamella/transport'
import { strictSchema } from './strict-schema.ts'

/** How one API writes a function tool and the wish for one. */
export interface ToolDialect {
  /** Rules of the API for schemas of tools. */
  readonly schemas: SchemaRules
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

/** OpenAI takes properties of any name. */
const anyNames: SchemaRules = {}

/** Models of every maker, of whom some take only these names. */
const plainNames: SchemaRules = { propertyName: /^[\w.-]{1,64}$/ }

export const responsesDialect: ToolDialect = {
  schemas: anyNames,
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

const openaiCompletions: ToolDialect = {
  schemas: anyNames,
  functionTool: ({ strict, name, description, parameters }) => ({
    type: 'function',
    // Servers that only resemble OpenAI's may not know the field.
    function: { name, description, parameters, ...(strict && { strict }) },
  }),
  functionChoice: (name) => ({ type: 'function', function: { name } }),
  hostedChoice: (type, { name, custom }) =>
    type === 'custom' ? { type, custom: { name: stringOf(name) ?? nameIn(custom) } } : { type },
}

const otherCompletions: ToolDialect = { ...openaiCompletions, schemas: plainNames }

/** How Chat Completions of a server writes tools. */
export function completionsTools(provider: string): ToolDialect {
  return provider.includes('openai') ? openaiCompletions : otherCompletions
}

/** The fields of the request that are about tools: none without a tool, as the API wants it. */
export function toolParams(
  { tools: given = [], toolChoice, allowParallelToolCalls }: ChatOptions,
  strictTools: boolean,
  dialect: ToolDialect,
): Readonly<Record<string, unknown>> {
  const tools = fitTools(given, dialect.schemas)
  if (tools.length === 0) return {}
  const chosen = typeof toolChoice === 'object' ? toolChoice.functionName : undefined
  const isOffered = chosen === undefined || tools.some(({ name }) => name === chosen)
  return {
    tools: tools.map((tool) => toolParam(tool, strictTools, dialect)),
    ...(toolChoice !== undefined &&
      isOffered && { tool_choice: choiceParam(toolChoice, tools, dialect) }),
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
    parameters: strict ?? fitSchema(jsonSchema, dialect.schemas)!,
    strict: strict !== undefined,
    isDeferred: metadata?.['deferLoading'] === true,
  })
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
