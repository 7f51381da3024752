import type { AgentResponseUpdate } from './agent-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { RunContext } from './run-context.ts'
import type { RunControl } from './run-control.ts'
import type { RunEvent } from './run-events.ts'
import type { Session } from './session.ts'
import type { UpdateSink } from './update-sink.ts'

/** What a run is started with. */
export interface RunInit {
  readonly sink: UpdateSink<AgentResponseUpdate>
  readonly id?: string | undefined
  readonly agentName?: string | undefined
  readonly session?: Session | undefined
  readonly signal?: AbortSignal | undefined
  readonly parent?: RunContext | undefined
  /** Whether the parent counts the usage itself, from the answer. */
  readonly isGuest?: boolean | undefined
  readonly data?: unknown
  readonly tenant?: string | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  readonly control?: RunControl | undefined
  readonly checkpoint?: Checkpoint | undefined
  readonly answers?: Readonly<Record<string, unknown>> | undefined
}
