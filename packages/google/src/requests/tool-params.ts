import type { ChatOptions, Tool, ToolDefinition } from '@lamella/core'
import type { HostedTool } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { defined, listOf, recordOf, unlessEmpty } from '@lamella/transport'
import type { ModelTraits } from '../models/model-traits.ts'
import type { GoogleProviderOptions } from './google-provider-options.ts'
import { googleSchema } from './google-schema.ts'
import { toolNameFor } from './tool-names.ts'

/** A tool that a request leaves out. */
export interface OmittedTool {
  /** Name of the tool. */
  readonly name: string
  /** Reason, in words without a subject: `its schema refers to another document`. */
  readonly reason: string
}

/** Tools as a request sends them. */
export interface SentTools {
  readonly declarations: readonly WireObject[]
  readonly hosted: readonly WireObject[]
  readonly omitted: readonly OmittedTool[]
  /** Names of the functions, by those that Google is told. */
  readonly names: ReadonlyMap<string, string>
}

/** Declares tools, and tells which of them Google cannot be told. */
export function sentTools(tools: readonly ToolDefinition[], { isModern }: ModelTraits): SentTools {
  const names = new Map<string, string>()
  const declarations: WireObject[] = []
  const hosted: WireObject[] = []
  const omitted: OmittedTool[] = []
  const hasFunctions = tools.some(({ type }) => type === 'function')
  for (const tool of tools) {
    const { name } = tool
    const wireName = toolNameFor(name)
    if (tool.type === 'hosted') {
      if (hasFunctions && !isModern) {
        omitted.push({ name, reason: 'this model takes no hosted tools beside others' })
      } else hosted.push(hostedParam(tool))
      continue
    }
    if (names.has(wireName)) {
      omitted.push({ name, reason: 'another tool has its name' })
      continue
    }
    names.set(wireName, name)
    const { schema, reason } = parametersOf(tool)
    if (reason !== undefined) omitted.push({ name, reason })
    else declarations.push(declaration(tool, wireName, schema))
  }
  return { declarations, hosted, omitted, names }
}

/** The fields of the request that are about tools. */
export function toolParams(
  { declarations, hosted }: SentTools,
  { toolChoice }: ChatOptions,
  { validatedTools = false }: GoogleProviderOptions,
  isVertex: boolean,
): WireObject {
  // `NONE` is about calls alone: Google would run its own tools.
  const shown = toolChoice === 'none' ? [] : hosted
  const tools = [
    ...shown,
    ...(declarations.length > 0 ? [{ functionDeclarations: declarations }] : []),
  ]
  if (tools.length === 0) return {}
  const isMixed = shown.length > 0 && declarations.length > 0
  const calling =
    declarations.length > 0
      ? callingConfig(toolChoice, declarations, validatedTools || isMixed)
      : undefined
  const toolConfig = {
    ...(calling && { functionCallingConfig: calling }),
    ...(isMixed && !isVertex && { includeServerSideToolInvocations: true }),
  }
  return defined({ tools, toolConfig: unlessEmpty(toolConfig) })
}

function callingConfig(
  choice: ChatOptions['toolChoice'],
  declarations: readonly WireObject[],
  isValidated: boolean,
): WireObject | undefined {
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY' }
  if (typeof choice === 'object') {
    const name = toolNameFor(choice.functionName)
    if (declarations.some((each) => each['name'] === name)) {
      return { mode: 'ANY', allowedFunctionNames: [name] }
    }
  }
  if (isValidated) return { mode: 'VALIDATED' }
  // A request holds the choice and no function; what a direct caller leaves is decided by the model.
  return choice === 'auto' ? { mode: 'AUTO' } : undefined
}

function declaration(
  { description, metadata }: Tool,
  name: string,
  parameters: WireObject | undefined,
): WireObject {
  return {
    name,
    ...(description !== '' && { description }),
    ...(parameters && { parametersJsonSchema: parameters }),
    ...recordOf(metadata?.['google']),
  }
}

function parametersOf({ jsonSchema }: Tool): {
  readonly schema?: WireObject
  readonly reason?: string
} {
  const { schema, reason } = googleSchema(jsonSchema, true)
  if (reason !== undefined) return { reason }
  const { properties, additionalProperties } = schema
  const isEmpty = Object.keys(recordOf(properties)).length === 0
  // A tool without parameters has no schema; one that takes any object has.
  return isEmpty && properties !== undefined && !additionalProperties ? {} : { schema }
}

function hostedParam({ name, definition }: HostedTool): WireObject {
  const fields = Object.keys(definition)
  if (
    fields.length === 0 ||
    'type' in definition ||
    listOf(fields).includes('functionDeclarations')
  ) {
    throw new TypeError(
      `tools: the hosted tool "${name}" needs a definition in Google's format, such as { googleSearch: {} }`,
    )
  }
  return definition
}
