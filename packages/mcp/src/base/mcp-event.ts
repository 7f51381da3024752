import type { RunContext } from '@lamella/core'
import { reporter } from '@lamella/core/authoring'

/**
 * Report of an action of `mcpTools`, without content. In a run it is also an event of type `mcp`.
 */
export interface McpEvent {
  /** Your name for the server. */
  readonly server: string
  /**
   * `connected`, `disconnected`, `unavailable`: state of the connection. `tool_left_out`,
   * `tool_changed`: a listed tool was omitted, or has changed or come since the first list.
   * `call_failed`: a call was not answered, with its HTTP status in `reason`. `output_invalid`: a
   * result does not fit the tool's own schema. `question_declined`: a question of the server was not answered or
   * not allowed.
   */
  readonly status:
    | 'connected'
    | 'disconnected'
    | 'unavailable'
    | 'tool_left_out'
    | 'tool_changed'
    | 'call_failed'
    | 'output_invalid'
    | 'question_declined'
  /** Name of the tool for the model; for an omitted tool, its position in the list. */
  readonly tool?: string | undefined
  /** Cause, as a fixed text. */
  readonly reason?: string | undefined
}

/** Tells of an event, in a run where there is one. */
export type McpReport = (event: Omit<McpEvent, 'server'>, run?: RunContext) => void

/** Makes the report of one server. */
export function mcpReport(
  server: string,
  onEvent: ((event: McpEvent) => void) | undefined,
): McpReport {
  const inRun = reporter<McpEvent>('mcp', onEvent)
  return (told, run) => {
    const event = { server, ...told }
    if (run !== undefined) return inRun(run, event)
    try {
      onEvent?.(event)
    } catch {
      // An observer cannot break what it observes.
    }
  }
}
