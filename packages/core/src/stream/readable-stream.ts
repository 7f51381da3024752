import type { ResponseStream } from './response-stream.ts'

/**
 * Returns the updates as a Web stream. Reading it pulls from `stream`; cancelling it cancels
 * `stream`.
 */
export function toReadableStream<Update, Final>(
  stream: ResponseStream<Update, Final>,
): ReadableStream<Update> {
  const iterator = stream[Symbol.asyncIterator]()
  const pull = async (controller: ReadableStreamDefaultController<Update>): Promise<void> => {
    const step = await iterator.next()
    if (step.done === true) controller.close()
    else controller.enqueue(step.value)
  }
  const cancel = (reason: unknown): Promise<void> => stream.cancel(reason)
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}
