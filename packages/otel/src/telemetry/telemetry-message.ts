/** Message on the diagnostics channel. It never contains content. */
export interface TelemetryMessage {
  /** Phase of the operation. */
  readonly phase: 'start' | 'end' | 'event'
  /** Kind of the operation. */
  readonly operation: 'invoke_agent' | 'chat' | 'execute_tool' | 'middleware'
  /** Agent, model or tool of the operation. */
  readonly subject: string | undefined
  /** Id of the run. */
  readonly runId: string
  /** Name of the agent. */
  readonly agentName: string | undefined
  /** Id of the session. */
  readonly sessionId: string | undefined
  /** Number of messages. */
  readonly messages?: number | undefined
  /** Tokens used. */
  readonly tokens?: number | undefined
  /** Outcome of the operation. */
  readonly status?: string | undefined
  /** Duration in milliseconds. */
  readonly elapsedMs?: number | undefined
  /** Type of the run's event. */
  readonly type?: string | undefined
  /** Plain facts about the operation or event. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}
