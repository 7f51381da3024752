/** What the diagnostics channel is told. There is never content in it. */
export interface TelemetryMessage {
  readonly phase: 'start' | 'end' | 'event'
  readonly operation: 'invoke_agent' | 'chat' | 'execute_tool' | 'layer'
  readonly subject: string | undefined
  readonly runId: string
  readonly agentName: string | undefined
  readonly sessionId: string | undefined
  readonly messages?: number | undefined
  readonly tokens?: number | undefined
  readonly status?: string | undefined
  readonly elapsedMs?: number | undefined
  /** Of an event of the run. */
  readonly type?: string | undefined
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}
