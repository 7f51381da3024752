import type { StateCell } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'

/**
 * Defines the number of the client that served last in a run: 0 is the call's own, others count from 1.
 */
export function stickyClient(middleware: string): StateCell<number> {
  const schema = { type: 'integer', minimum: 0 } as const
  return defineState<number>({
    name: `fallback:${middleware}`,
    initial: () => 0,
    schema: jsonSchema(schema),
  })
}
