import type { PendingRequest } from '@lamella/core'

/** One workflow of a durable engine. Each pass of the workflow makes its own. */
export interface DurableEngine {
  /** Id of the workflow, the same in every pass. Keys of tool calls and the run's id come from it. @default the run's id */
  readonly id?: string | undefined
  /**
   * Name of this process, which its steps keep: the picture of a run that moved shows it at restored calls.
   * @default its process id
   */
  readonly process?: string | undefined
  /**
   * Runs `work` once and stores the value that it resolves to, as JSON. In a later pass it resolves to that value,
   * and `work` does not run. If `work` rejects, the failure is worth a retry, and the engine decides. The same
   * name comes again where a call repeats, always in the same order: an engine that finds steps by name counts.
   */
  readonly step: <Value>(name: string, work: () => Promise<Value>) => Promise<Value>
  /**
   * Waits for `ms` milliseconds, across passes.
   * @default a timer of this process
   */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined
  /**
   * Waits for answers to requests of a paused run, across passes: resolves to an object of answers by id of their
   * request, as `agent.resume` takes it. The requests are in the same order in every pass.
   * @default none: the run ends as `paused`
   */
  readonly wait?: ((requests: readonly PendingRequest[]) => Promise<Answers>) | undefined
}

/** Answers by the id of their request. */
export type Answers = Readonly<Record<string, unknown>>
