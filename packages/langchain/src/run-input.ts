import type { Message } from '@lamella/core'

/** Input of a run: what it began with, or what its middleware has made of that. */
export interface RunInput {
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
}
