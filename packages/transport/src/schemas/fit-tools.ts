import type { ChatRequest, JsonSchema, ToolDefinition } from '@lamella/core'
import type { AdaptedSchema, SchemaRules } from './adapt-schema.ts'
import { adaptSchema, UnfitSchema } from './adapt-schema.ts'

/** A tool that a request leaves out. */
export interface OmittedTool {
  /** Name of the tool. */
  readonly tool: string
  /** Cause, as a fixed text. */
  readonly reason: string
}

/** Names of properties that were changed, by the name of the tool: each by the name that is sent. */
export type ArgumentAliases = ReadonlyMap<string, ReadonlyMap<string, string>>

const known = new WeakMap<JsonSchema, WeakMap<SchemaRules, AdaptedSchema | UnfitSchema>>()

/** The schema of a tool as a provider accepts it, or nothing if there is none. Rules are an object that stays. */
export function fitSchema(schema: JsonSchema, rules: SchemaRules): JsonSchema | undefined {
  const fit = fitOf(schema, rules)
  return fit instanceof UnfitSchema ? undefined : fit.schema
}

/** The tools of a request that a provider accepts. One whose schema has no form for it is left out. */
export function fitTools(
  tools: readonly ToolDefinition[],
  rules: SchemaRules,
): readonly ToolDefinition[] {
  return tools.filter(
    (tool) => !isFunction(tool) || fitSchema(tool.jsonSchema, rules) !== undefined,
  )
}

/**
 * Sends an event for each tool that a request leaves out, and returns the names of properties that
 * it changes.
 */
export function reportTools(
  { options, emit }: Pick<ChatRequest, 'options' | 'emit'>,
  provider: string,
  rules: SchemaRules,
): ArgumentAliases {
  const aliases = new Map<string, ReadonlyMap<string, string>>()
  for (const tool of options.tools ?? []) {
    if (!isFunction(tool)) continue
    const fit = fitOf(tool.jsonSchema, rules)
    if (fit instanceof UnfitSchema) {
      const data: OmittedTool & { readonly provider: string } = {
        tool: tool.name,
        reason: fit.reason,
        provider,
      }
      emit?.({ type: 'tool_left_out', data })
    } else if (fit.aliases.size > 0) {
      aliases.set(tool.name, fit.aliases)
    }
  }
  return aliases
}

function fitOf(schema: JsonSchema, rules: SchemaRules): AdaptedSchema | UnfitSchema {
  let byRules = known.get(schema)
  if (byRules === undefined) known.set(schema, (byRules = new WeakMap()))
  let fit = byRules.get(rules)
  if (fit === undefined) byRules.set(rules, (fit = adaptSchema(schema, rules)))
  return fit
}

function isFunction(tool: ToolDefinition): tool is Exclude<ToolDefinition, { type: 'hosted' }> {
  return tool.type !== 'hosted'
}
