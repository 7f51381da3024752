/** A run as it would start, for `review` of a middleware. */
export interface RunPlan {
  /** Client of the agent. */
  readonly client: {
    /** Name of its provider. */
    readonly provider: string
    /** Name of its own, if it has one. */
    readonly name?: string | undefined
    /** Default model. */
    readonly model?: string | undefined
    /** Configuration that affects responses. */
    readonly fingerprint?: string | undefined
  }
  /** Model that is called first. */
  readonly model: string | undefined
  /** Names of the tools of the agent and of the run. */
  readonly tools: readonly string[]
  /** Roles of the middleware of the run, at all levels. */
  readonly roles: readonly string[]
}
