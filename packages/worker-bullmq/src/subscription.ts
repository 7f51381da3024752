import type { AgentResponseUpdate } from '@lamella/core'
import type { Redis } from 'ioredis'
import type { RunOutcome } from './run-record.ts'
import type { RunEntry, RunStore } from './run-store.ts'

/** Message for a subscriber, with an id to continue from. */
export type RunMessage =
  | {
      /** Id of the message, for `from`. */
      readonly id: string
      readonly kind: 'update'
      /** Update of the run. */
      readonly update: AgentResponseUpdate
    }
  | {
      /** Id of the message, for `from`. */
      readonly id: string
      readonly kind: 'outcome'
      /** Outcome of the run, also when it pauses. */
      readonly outcome: RunOutcome
    }

/** Reads a run to its outcome, over a connection of its own. */
export async function* readRun(
  store: RunStore,
  connect: () => Redis,
  runId: string,
  {
    from = '0',
    signal,
    check,
  }: {
    readonly from?: string | undefined
    readonly signal?: AbortSignal | undefined
    readonly check: () => Promise<unknown>
  },
): AsyncGenerator<RunMessage, void> {
  signal?.throwIfAborted()
  const redis = connect()
  // A blocking read ends with its connection.
  const onAbort = (): void => redis.disconnect()
  signal?.addEventListener('abort', onAbort)
  try {
    await check()
    let last = from
    let isOver = await store.isOver(runId)
    for (;;) {
      const entries = await readNext(redis, store.updatesKey(runId), last, !isOver)
      for (const [id, entry] of entries) {
        last = id
        if (entry.kind === 'update') {
          yield { id, kind: 'update', update: entry.update }
          continue
        }
        // A run that was resumed since continues.
        if ((await store.leg(runId)) > entry.leg) continue
        yield { id, kind: 'outcome', outcome: entry.outcome }
        return
      }
      if (entries.length > 0) continue
      if (isOver) return
      isOver = await store.isOver(runId)
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
    redis.disconnect()
  }
}

async function readNext(
  redis: Redis,
  key: string,
  last: string,
  waits: boolean,
): Promise<readonly (readonly [id: string, entry: RunEntry])[]> {
  const read = waits
    ? await redis.xread('COUNT', 500, 'BLOCK', 5000, 'STREAMS', key, last)
    : await redis.xread('COUNT', 500, 'STREAMS', key, last)
  const [, entries = []] = read?.[0] ?? []
  return entries.map(([id, fields]) => [id, JSON.parse(fields[1]!) as RunEntry])
}
