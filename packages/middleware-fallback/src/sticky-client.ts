import type { StateCell } from '@lamella/core'
import { defineState } from '@lamella/core'

/** Which client served last in a run: 0 is the call's own, the others count from 1. */
export function stickyClient(layer: string): StateCell<number> {
  const schema = { type: 'integer', minimum: 0 } as const
  return defineState<number>({ name: `fallback:${layer}`, initial: () => 0, schema })
}
