import type { ToolDefinition } from '@lamella/core'
import { legalName } from '@lamella/transport'
import { longestToolName } from '../history/google-history.ts'

/** Returns a tool's name as Google takes it: it begins with a letter or `_`. */
export function toolNameFor(name: string): string {
  const legal = legalName(name, longestToolName) || 'tool'
  return /^[a-z_]/i.test(legal) ? legal : `_${legal}`.slice(0, longestToolName)
}

/** The names of tools, by those that Google is told. Of two that become the same, the first counts. */
export function namesByWire(tools: readonly ToolDefinition[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { type, name } of tools) {
    const wireName = toolNameFor(name)
    if (type === 'function' && !names.has(wireName)) names.set(wireName, name)
  }
  return names
}
