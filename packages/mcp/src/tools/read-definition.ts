import type { JsonSchema } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import type { BoundedSchema } from './bounded-schema.ts'
import { boundedOutputSchema, boundedSchema } from './bounded-schema.ts'
import { cleanText } from '../base/clean-text.ts'

/** A server's definition of a tool, parsed and bounded. */
export interface McpDefinition {
  /** Name by which the server knows it. */
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  readonly schema: BoundedSchema
  readonly outputSchema: JsonSchema | undefined
  readonly annotations: McpAnnotations
  /** SHA-256 of the server's whole definition of the tool. */
  readonly fingerprint: string
  /** Definition that the SDK reads headers from. It has no output schema: results are checked here. */
  readonly forSdk: object
}

/** Hints of a server about its tool, which may be wrong. */
export interface McpAnnotations {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** Limits of what a definition may have. */
export interface DefinitionLimits {
  readonly maxSchemaBytes: number
  readonly maxDescriptionChars: number
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
const maxNameChars = 256

/**
 * Reads one entry of a server's list. Only required fields must be valid; a wrong annotation is
 * ignored.
 * @throws Error with a fixed text that says why the tool cannot be used
 */
export async function readDefinition(
  listed: unknown,
  limits: DefinitionLimits,
): Promise<McpDefinition> {
  const entry = (listed ?? {}) as Readonly<Record<string, unknown>>
  const { name, title, description, inputSchema, outputSchema, execution } = entry
  if (typeof name !== 'string' || name === '') throw new RangeError('it has no name')
  if (name.length > maxNameChars) throw new RangeError('its name is too long')
  if (supportOf(execution) === 'required') throw new RangeError('it only runs as a task')
  const said = {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations: entry['annotations'],
  }
  if (JSON.stringify([inputSchema, outputSchema]).length > limits.maxSchemaBytes) {
    throw new RangeError(`its schemas have more than ${limits.maxSchemaBytes} bytes`)
  }
  const schema = boundedSchema(inputSchema)
  return {
    name,
    title: typeof title === 'string' ? cleanText(title, 200) : undefined,
    description:
      typeof description === 'string' ? cleanText(description, limits.maxDescriptionChars) : '',
    schema,
    outputSchema: boundedOutputSchema(outputSchema),
    annotations: annotationsOf(entry['annotations']),
    fingerprint: await sha256(canonicalJson(said)),
    forSdk: { name, inputSchema },
  }
}

function annotationsOf(given: unknown): McpAnnotations {
  const all = (given ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    hints.flatMap((hint) => (typeof all[hint] === 'boolean' ? [[hint, all[hint]]] : [])),
  )
}

function supportOf(execution: unknown): unknown {
  return (execution as { readonly taskSupport?: unknown } | undefined)?.taskSupport
}
