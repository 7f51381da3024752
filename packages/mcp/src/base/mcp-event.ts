import type { RunContext } from '@lamella/core'
import { reporter } from '@lamella/core/authoring'

/** Something that `mcpTools` did, without any content. In a run it is also an event of type `mcp`. */
export interface McpEvent {
  /** Name of the server, as you gave it. */
  readonly server: string
  /**
   * `connected`, `disconnected`, `unavailable`: the connection. `tool_left_out`, `tool_changed`: a listed tool.
   * `output_invalid`: a result that does not fit the tool's own schema. `question_declined`: a question of the
   * server that nobody answered, or that was not allowed.
   */
  readonly status:
    | 'connected'
    | 'disconnected'
    | 'unavailable'
    | 'tool_left_out'
    | 'tool_changed'
    | 'output_invalid'
    | 'question_declined'
  /** The tool, by the name that the model is shown; for one that was left out, its position in the list. */
  readonly tool?: string | undefined
  /** Cause, in words that are fixed. */
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
