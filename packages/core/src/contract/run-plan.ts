/** A run as it would start, for `review` of a middleware. */
export interface RunPlan {
  /** Client of the agent. */
  readonly client: {
    readonly provider: string
    readonly name?: string | undefined
    readonly model?: string | undefined
    readonly fingerprint?: string | undefined
  }
  /** Model that is called first. */
  readonly model: string | undefined
  /** Names of the tools of the agent and of the run. */
  readonly tools: readonly string[]
}
