import type { Schema, ToolDefinition } from '@lamella/core'
import { canonicalJson, sha256, toJsonSchema } from '@lamella/core/authoring'

const known = new WeakMap<ToolDefinition, Promise<string>>()

/** Hashes every field of a tool: the model reads some, and a policy may read any. */
export function fingerprint(tool: ToolDefinition): Promise<string> {
  let print = known.get(tool)
  if (print === undefined) known.set(tool, (print = digest(tool)))
  return print
}

/** Resolves to fingerprints of tools by name, for the option `pinned`. */
export async function fingerprints(
  tools: readonly ToolDefinition[],
): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all(tools.map(async (tool) => [tool.name, await fingerprint(tool)] as const)),
  )
}

async function digest(tool: ToolDefinition): Promise<string> {
  return sha256(canonicalJson(readable({ ...tool }, [])))
}

/** Returns the data in a value, and what a schema describes. Other code can only be told from no code. */
function readable(value: unknown, parents: readonly unknown[]): unknown {
  if ('~standard' in Object(value)) return readable(describe(value as Schema), parents)
  if (typeof value === 'function' || typeof value === 'bigint') return typeof value
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null || Array.isArray(value)
  if (!isPlain || parents.includes(value)) return 'object'
  if (Array.isArray(value)) return value.map((entry) => readable(entry, [...parents, value]))
  return Object.entries(value).map(([key, entry]) => [key, readable(entry, [...parents, value])])
}

function describe(schema: Schema): unknown {
  try {
    return toJsonSchema(schema)
  } catch {
    return 'a schema that does not describe itself'
  }
}
