import type { ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { ResponseFold, unlessAborted } from '@lamella/core/authoring'
import type { StreamTimeouts } from '@lamella/transport'
import { StallTimer, TransportFault } from '@lamella/transport'
import type { AiSdkStreamResult } from '../model/language-model.ts'
import type { ModelUpdates } from './model-updates.ts'

/** One streamed call of a model. */
export interface StreamCall {
  readonly open: (signal: AbortSignal) => PromiseLike<AiSdkStreamResult>
  /** Called once the stream is there. */
  readonly mapper: () => ModelUpdates
  readonly signal: AbortSignal
  readonly timeouts: StreamTimeouts
  /** The error to reject with. `hasBegun` says that the stream was there. */
  readonly toError: (cause: unknown, known: FailedStream) => unknown
}

/** Facts about a stream that failed. */
export interface FailedStream {
  readonly hasBegun: boolean
  readonly partial: ChatResponse | undefined
}

type Step = IteratorResult<ChatResponseUpdate, undefined>

/**
 * Updates of a streamed call. The stream ends only when the answer is complete, and otherwise
 * rejects with the content received. An abort rejects at once with the signal's reason. It starts
 * on the first pull and does not read ahead.
 */
export function readModelStream(call: StreamCall): AsyncIterable<ChatResponseUpdate> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<ChatResponseUpdate, undefined> {
      const leaving = new AbortController()
      const updates = read(call, leaving)
      return {
        next: () => updates.next(),
        async return(): Promise<Step> {
          leaving.abort(left)
          return updates.return(undefined)
        },
      }
    },
  }
}

/** Reason of the transport's abort when the reader leaves. */
const left = new DOMException('The reader of the stream left.', 'AbortError')

async function* read(
  { open, mapper: makeMapper, signal, timeouts, toError }: StreamCall,
  transport: AbortController,
): AsyncGenerator<ChatResponseUpdate, undefined> {
  const follow = (): void => transport.abort(signal.reason)
  if (signal.aborted) follow()
  signal.addEventListener('abort', follow, { once: true })
  const timer = new StallTimer(timeouts, (words) => {
    transport.abort(new TransportFault('timeout', words))
  })
  let mapper: ModelUpdates | undefined
  const arrived = new ResponseFold()
  let reader: ReadableStreamDefaultReader<unknown> | undefined
  let hasArrived = false
  try {
    transport.signal.throwIfAborted()
    timer.wait()
    const opening = open(transport.signal)
    reader = (
      await unlessAborted(transport.signal, whenOpen(opening, transport.signal))
    ).getReader()
    mapper = makeMapper()
    while (!mapper.isOver) {
      const { done, value } = await unlessAborted(transport.signal, reader.read())
      const updates: ChatResponseUpdate[] = []
      try {
        if (done) mapper.end()
        else mapper.add(value, updates)
      } finally {
        for (const update of updates) arrived.add(update)
        hasArrived ||= updates.length > 0
        // Also those of a part that turns out to be the end of a broken stream.
        timer.alive(updates.length > 0)
        if (updates.length > 0) {
          timer.rest()
          yield* updates
          timer.wait()
        }
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (transport.signal.reason === left) return undefined
    const partial = hasArrived ? arrived.response() : undefined
    const { reason } = transport.signal
    const cause = reason instanceof TransportFault ? reason : error
    throw toError(cause, { hasBegun: reader !== undefined, partial })
  } finally {
    timer.stop()
    signal.removeEventListener('abort', follow)
    if (mapper?.isOver !== true) transport.abort(left)
    // A stream that never settles its cancellation must not keep the caller.
    reader?.cancel(transport.signal.reason).catch(() => {})
  }
  return undefined
}

/** A stream that opens too late is closed again. */
async function whenOpen(
  opening: PromiseLike<AiSdkStreamResult>,
  signal: AbortSignal,
): Promise<ReadableStream<unknown>> {
  const { stream } = await opening
  if (signal.aborted) stream.cancel(signal.reason).catch(() => {})
  return stream
}
