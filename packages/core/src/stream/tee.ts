import { DerivedSource } from './derived-source.ts'
import { sameUpdates } from './inner-stream.ts'
import { Queue } from './queue.ts'
import { ResponseStream } from './response-stream.ts'
import type { StreamFailure } from './stream-outcome.ts'

/**
 * Returns two streams over this one. Updates are buffered for the slower reader; the stream ends
 * early when both readers have left.
 *
 * @example
 * ```ts
 * import { Agent, tee } from '@lamella/core'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const [screen, log] = tee(agent.run('Hi', { stream: true }))
 * const [shown, logged] = await Promise.all([screen.finalResponse(), log.finalResponse()])
 * console.log(shown.text === logged.text) // true
 * ```
 */
export function tee<Update, Final>(
  stream: ResponseStream<Update, Final>,
): [ResponseStream<Update, Final>, ResponseStream<Update, Final>] {
  const inner = sameUpdates(stream)
  const readers = new Set<Queue<{ readonly value: Update }>>()
  let pulling: Promise<void> | undefined
  /** Pulls for all readers, one pull at a time. Its end or failure is in the stream's outcome. */
  const pullForAll = (): Promise<void> => {
    const shared = async (): Promise<void> => {
      const { done, value } = await inner.pull()
      // An iterator may use one object for all of its steps.
      if (done !== true) for (const reader of readers) reader.added.push({ value })
    }
    return (pulling ??= shared()
      .catch(() => {})
      .finally(() => (pulling = undefined)))
  }
  const branch = (): ResponseStream<Update, Final> => {
    const kept = new Queue<{ readonly value: Update }>()
    let failure: StreamFailure<Final> | undefined
    readers.add(kept)
    return new ResponseStream(
      new DerivedSource<Update, Final>({
        ...inner,
        async pull() {
          let step = kept.take()
          if (step === undefined) {
            await pullForAll()
            step = kept.take()
          }
          if (step !== undefined) return { done: false, value: step.value }
          const outcome = await stream.outcome()
          if (outcome.status === 'done') return { done: true, value: undefined }
          failure = outcome
          throw outcome.error
        },
        async close(reason) {
          readers.delete(kept)
          if (readers.size === 0) await stream.cancel(reason)
        },
        failure: async () => failure,
      }),
    )
  }
  return [branch(), branch()]
}
