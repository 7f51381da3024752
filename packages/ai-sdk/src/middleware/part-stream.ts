import type { ChatResponse, ChatResponseUpdate, ResponseStream } from '@lamella/core'
import { LamellaError, toUpdates } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import type { AiSdkStreamResult, AiSdkVersion } from '../model/language-model.ts'
import { callEnding } from './call-ending.ts'
import type { LamellaMiddlewareOptions } from './lamella-middleware-options.ts'
import { PartWriter } from './part-writer.ts'
import type { WrappedModelClient } from './wrapped-model-client.ts'

type Updates = ResponseStream<ChatResponseUpdate, ChatResponse>

/**
 * A streamed call as the AI SDK reads it. A failure before the first part rejects, so that the AI
 * SDK may retry.
 */
export async function partStream(
  client: WrappedModelClient,
  version: AiSdkVersion,
  options: LamellaMiddlewareOptions,
): Promise<AiSdkStreamResult> {
  const { messages, ...rest } = client.request
  const updates = client.getResponse([...messages], { ...rest, stream: true })
  const batches = partBatches(updates, client, version, options)
  let next: Promise<IteratorResult<readonly WireObject[]>> | undefined = batches.next()
  await next
  const stream = new ReadableStream<WireObject>(
    {
      async pull(controller) {
        const { done, value } = await (next ?? batches.next())
        next = undefined
        if (done === true) controller.close()
        else for (const part of value) controller.enqueue(part)
      },
      cancel: (reason) => updates.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { stream }
}

/** Batches of one part or more: a pull that brings none would be the last. */
async function* partBatches(
  stream: Updates,
  client: WrappedModelClient,
  version: AiSdkVersion,
  options: LamellaMiddlewareOptions,
): AsyncGenerator<readonly WireObject[], undefined> {
  const writer = new PartWriter(version)
  let hasBegun = false
  try {
    for await (const update of released(stream, options)) {
      if (update.restart === true && writer.hasWritten) throw restarted()
      const parts = writer.write(update)
      if (parts.length === 0) continue
      hasBegun = true
      yield parts
    }
    yield writer.end(await stream.finalResponse())
  } catch (error) {
    // An abort is reported as an abort.
    if (client.request.signal?.aborted === true) throw error
    const ending = callEnding(error, client, options)
    if ('error' in ending) {
      if (!hasBegun) throw ending.error
      yield writer.fail(ending.error)
      return undefined
    }
    const { response } = ending
    yield [
      ...toUpdates(response).flatMap((update) => writer.write(update)),
      ...writer.end(response),
    ]
  }
  return undefined
}

async function* released(
  stream: Updates,
  { release }: LamellaMiddlewareOptions,
): AsyncIterable<ChatResponseUpdate> {
  if (release === 'full') yield* toUpdates(await stream.finalResponse())
  else yield* stream
}

/** A part that was sent cannot be discarded. */
function restarted(): LamellaError {
  return new LamellaError(
    "lamellaMiddleware: a middleware started the answer over after parts of it had gone out; use `release: 'full'`",
    { code: 'stream_restarted' },
  )
}
