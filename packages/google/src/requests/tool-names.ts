import { legalName } from '@lamella/transport'
import { longestToolName } from '../history/google-history.ts'

/** Returns a tool's name as Google takes it: it begins with a letter or `_`. */
export function toolNameFor(name: string): string {
  const legal = legalName(name, longestToolName) || 'tool'
  return /^[a-z_]/i.test(legal) ? legal : `_${legal}`.slice(0, longestToolName)
}
