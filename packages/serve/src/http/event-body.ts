import { callLater, systemClock } from '@lamella/core/authoring'

/** Chunks of an event stream, made on demand. */
export interface ChunkSource {
  /** Resolves to the next chunk, or to `undefined` at the end. Never rejects. */
  next(): Promise<string | undefined>
  /** Ends the source early, because its reader has disconnected. */
  cancel(reason: unknown): void
}

/** Timers of an event stream. */
export interface EventBodyOptions {
  /** Milliseconds of silence after which a comment is sent. */
  readonly keepAliveMs: number
  /** Milliseconds that a reader may take for a chunk. */
  readonly readerTimeoutMs: number
}

const keepAlive = ': keep-alive\n\n'

/**
 * Creates the body of an event stream. It does not read ahead; a reader that reads nothing for
 * `readerTimeoutMs` counts as disconnected.
 */
export function eventBody(
  source: ChunkSource,
  { keepAliveMs, readerTimeoutMs }: EventBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let waiting: Promise<string | undefined> | undefined
  let endPatience = (): void => {}
  const silence = (): { readonly over: Promise<'silent'>; stop(): void } => {
    let stop = (): void => {}
    const over = new Promise<'silent'>((resolve) => {
      stop = callLater(systemClock, keepAliveMs, () => resolve('silent'))
    })
    return { over, stop }
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        endPatience()
        for (;;) {
          waiting ??= source.next()
          const quiet = silence()
          // oxlint-disable-next-line no-await-in-loop
          const step = await Promise.race([waiting.then((chunk) => ({ chunk })), quiet.over])
          quiet.stop()
          if (step !== 'silent') waiting = undefined
          const chunk = step === 'silent' ? keepAlive : step.chunk
          if (chunk === undefined) {
            controller.close()
            return
          }
          if (chunk === '') continue
          controller.enqueue(encoder.encode(chunk))
          endPatience = callLater(systemClock, readerTimeoutMs, () => {
            const gone = new Error(`the reader read nothing for ${readerTimeoutMs} ms`)
            source.cancel(gone)
            controller.error(gone)
          })
          return
        }
      },
      cancel(reason) {
        endPatience()
        source.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
