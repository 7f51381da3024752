/** Outputs of a command, its environment, and the signal that ends it. */
export interface CommandOutput {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Shows progress on one line, which the next one replaces. @default none */
  readonly progress?: ((text: string) => void) | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Options of a command, as they were given. */
export interface CommandOptions {
  readonly out: string
  readonly baseline: string | undefined
  readonly update: boolean
  readonly only: string | undefined
  /** Number of the part, from 1, and number of all parts. */
  readonly shard: readonly [number, number]
  readonly runs: number | undefined
}
