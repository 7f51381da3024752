import type { ToolDefinition } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'

const known = new WeakMap<ToolDefinition, Promise<string>>()

/** A hash of all that a model is told of a tool: its name, its description, its parameters. */
export function fingerprint(tool: ToolDefinition): Promise<string> {
  let print = known.get(tool)
  if (print === undefined) known.set(tool, (print = digest(tool)))
  return print
}

/** Fingerprints of tools by name, to be kept and given as `pinned`. */
export async function fingerprints(
  tools: readonly ToolDefinition[],
): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all(tools.map(async (tool) => [tool.name, await fingerprint(tool)] as const)),
  )
}

async function digest(tool: ToolDefinition): Promise<string> {
  const told =
    tool.type === 'hosted'
      ? [tool.name, tool.definition]
      : [tool.name, tool.description, tool.jsonSchema]
  return sha256(canonicalJson(told))
}
