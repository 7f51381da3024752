import type { AgentResponse, AgentResponseUpdate, KeyValueStore } from '@lamella/core'
import { LamellaError, ResponseStream } from '@lamella/core'
import { checkOptions, checkStore, keyOf } from '@lamella/core/authoring'
import { whenStored } from '@lamella/store'
import type { Batch } from './update-writer.ts'
import { UpdateWriter } from './update-writer.ts'

/** Options of `storedUpdates`. */
export interface StoredUpdatesOptions {
  /**
   * Milliseconds for which updates are collected and then written together.
   * @default 50
   */
  readonly flushMs?: number | undefined
  /**
   * Milliseconds for which updates are kept after they were written.
   * @default 3_600_000
   */
  readonly ttlMs?: number | undefined
  /**
   * Receives the failures of the store. They do not fail the run: its readers miss updates, or wait until they are
   * aborted.
   * @default writes code and message to the console
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Whose run to read, and how far. */
export interface ReadUpdatesOptions {
  /** Tenant of the run. @default none */
  readonly tenant?: string | undefined
  /** Principal of the run. @default none */
  readonly principal?: string | undefined
  /**
   * Id of a request that has been answered: reading continues after the pause that asked it.
   * @default none: reading ends where the run waits
   */
  readonly answered?: string | undefined
  /** Ends reading, with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** Updates of durable runs in a store, for readers in any process. */
export interface StoredUpdates {
  /** Begins the updates of a pass: writes streams, and resolves to their responses. `runDurably` calls it. */
  begin(
    workflowId: string,
    owner: Pick<ReadUpdatesOptions, 'tenant' | 'principal'>,
  ): Promise<(stream: ResponseStream<AgentResponseUpdate, AgentResponse>) => Promise<AgentResponse>>
  /**
   * Reads the run of a workflow from its first update to its end, or to a pause, while it runs and afterwards. After a
   * crash, an update with `restart: true` and `scope: 'run'` discards what came before. Check who asks first: the
   * ids of workflows are no secrets. Rejects with the run's `code`, or `run_failed`, if the run failed.
   */
  read(
    workflowId: string,
    options?: ReadUpdatesOptions,
  ): ResponseStream<AgentResponseUpdate, AgentResponse>
}

/**
 * Keeps the updates of durable runs in a store that all processes share, so that a page reads an answer from any process, also while another
 * one takes the run over. Pass it to `runDurably` in its `engine`.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent, memoryStore } from '@lamella/core'
 * import type { DurableEngine } from '@lamella/durable'
 * import { runDurably, storedUpdates } from '@lamella/durable'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const step: DurableEngine['step'] = (_name, work) => work() // your engine
 * const updates = storedUpdates(memoryStore())
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * void runDurably(agent, 'Hi.', { id: 'greeting-1', step, updates })
 * for await (const { contents } of updates.read('greeting-1')) console.log(contents)
 * ```
 */
export function storedUpdates(
  store: KeyValueStore,
  options: StoredUpdatesOptions = {},
): StoredUpdates {
  checkOptions('storedUpdates', options, {
    flushMs: 0,
    ttlMs: 1,
    onError: 'function?',
  })
  const { flushMs = 50, ttlMs = 3_600_000, onError = warn } = options
  checkStore('storedUpdates', store)

  return {
    async begin(workflowId, owner) {
      const place = (at: number): string => keyOf('durable:', owner, workflowId, at)
      const append = async (at: number, batch: Batch): Promise<boolean> => {
        const isOwn = await store.compareAndSet(place(at), undefined, batch, { ttlMs })
        if (isOwn) await store.signals?.send(channelOf(workflowId), `${at}`).catch(() => {})
        return isOwn
      }
      const isTaken = async (at: number): Promise<boolean> =>
        (await store.get(place(at))) !== undefined
      const writer = new UpdateWriter({ append, isTaken }, flushMs, onError)
      await writer.begin()
      return (stream) => writer.write(stream)
    },

    read(workflowId, { answered, signal, ...owner } = {}) {
      const at = (number: number): Promise<Batch | undefined> =>
        store.get(keyOf('durable:', owner, workflowId, number)) as Promise<Batch | undefined>
      const channel = channelOf(workflowId)
      let response: AgentResponse | undefined
      const finalizer = (): AgentResponse => response!
      return ResponseStream.from(updates(), { finalizer })

      async function* updates(): AsyncGenerator<AgentResponseUpdate, void> {
        let pass: string | undefined
        for (let number = 0; ; number++) {
          const batch =
            (await at(number)) ??
            (await whenStored(store, { channel, read: () => at(number), signal }))
          // One that another process took the run from may still write.
          if (batch.begins) pass = batch.pass
          if (batch.pass !== pass) continue
          if (batch.begins && number > 0) yield runRestart
          for (const { update } of batch.entries) if (update !== undefined) yield update
          const { ended, failed } = batch.entries.at(-1) ?? {}
          if (ended === undefined && failed === undefined) continue
          const isAnswered = ended?.pending.some(({ id }) => id === answered) === true
          // After a failure or a pause, the workflow may have continued.
          if (isAnswered || (await at(number + 1)) !== undefined) continue
          if (failed !== undefined) throw new LamellaError(failed.message, failed)
          response = ended
          return
        }
      }
    },
  }
}

function channelOf(workflowId: string): string {
  return `durable:${workflowId}`
}

function warn(error: unknown): void {
  const { code, message } = error as { code?: unknown; message?: unknown }
  console.warn('durable: updates could not be stored:', code ?? '', message ?? error)
}

const runRestart: AgentResponseUpdate = { contents: [], restart: true, scope: 'run' }
