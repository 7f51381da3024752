import type { ToolDefinition } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'

const known = new WeakMap<ToolDefinition, Promise<string>>()

/**
 * Hashes every field of a tool that the model or a policy reads: name, description, parameters, effects,
 * approval, aliases of arguments.
 */
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
  if (tool.type === 'hosted') return sha256(canonicalJson([tool.name, tool.definition]))
  const { name, description, jsonSchema, argumentAliases = {}, approval, execute } = tool
  const { readOnly, idempotent, exclusive, returnDirect } = tool
  // A function can only be told from no function.
  const asks = typeof approval === 'function' ? 'function' : approval
  const effects = {
    readOnly,
    idempotent,
    exclusive,
    returnDirect,
    asks,
    runs: execute !== undefined,
  }
  return sha256(canonicalJson([name, description, jsonSchema, argumentAliases, effects]))
}
