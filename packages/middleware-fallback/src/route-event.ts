/** Reason why a client was not considered. */
export type RouteObstacle = 'when' | 'set_aside' | 'refused'

/** Data of the run event `route`. It has no content. */
export interface RouteEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Name of the chosen client, such as `openai/gpt-5`; `undefined` if the call keeps its own. */
  readonly client: string | undefined
  /** Rule that chose, or why there was no choice: `sticky` is the client of earlier calls, `only` the last one left. */
  readonly because: 'weight' | 'latency' | 'load' | 'cost' | 'function' | 'sticky' | 'only' | 'none'
  /** Clients that were not considered: `when` said no, recent calls failed, or it refused this call. */
  readonly skipped: Readonly<Record<string, RouteObstacle>>
  /** True in shadow mode: the event tells what would have been chosen. */
  readonly shadow?: true | undefined
}
