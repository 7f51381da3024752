import { LamellaError } from './lamella-error.ts'
import type { ResponseStream } from './response-stream.ts'

export interface TextOptions {
  /** What was shown so far is void: the text begins anew. */
  readonly onRestart?: (() => void) | undefined
}

interface TextUpdate {
  readonly contents?: readonly { readonly type: string; readonly text?: string }[]
  readonly role?: string | undefined
  readonly restart?: true | undefined
  readonly scope?: 'call' | 'run' | undefined
}

/**
 * The text of a stream as it comes. When a model call starts anew, a text that begins like the one
 * already shown is continued; where it does not, the reader is told by `onRestart` and gets all of
 * it again, or, without that option, an error, so that nobody is left with a wrong text.
 */
export async function* textPieces(
  stream: AsyncIterable<unknown>,
  options: TextOptions = {},
): AsyncGenerator<string> {
  let shown = ''
  /** Where the text stands; behind the end of `shown` while a restart repeats what was shown. */
  let position = 0
  /** Where it stood when the running model call began. */
  let mark = 0
  const diverge = (): void => {
    if (options.onRestart === undefined) throw restarted()
    options.onRestart()
  }
  for await (const update of stream as AsyncIterable<TextUpdate>) {
    if (update.restart === true) {
      if (update.scope === 'run') mark = 0
      position = mark
      continue
    }
    if (update.role === 'tool') {
      mark = position
      continue
    }
    if (update.role === 'user' || update.role === 'system') continue
    for (const content of update.contents ?? []) {
      if (content.type !== 'text' || !content.text) continue
      let piece = content.text
      if (position < shown.length) {
        const known = shown.slice(position, position + piece.length)
        if (piece.startsWith(known)) {
          position += known.length
          piece = piece.slice(known.length)
          if (piece === '') continue
        } else {
          diverge()
          piece = shown.slice(0, position) + piece
          shown = ''
          position = 0
        }
      }
      shown += piece
      position = shown.length
      yield piece
    }
  }
  if (position === shown.length) return
  diverge()
  if (position > 0) yield shown.slice(0, position)
}

function restarted(): LamellaError {
  return new LamellaError(
    'the text began anew after part of it was shown: pass `onRestart` to text(), or read finalResponse()',
    { code: 'stream_restarted' },
  )
}

export function readableStream<Update, Final>(
  stream: ResponseStream<Update, Final>,
): ReadableStream<Update> {
  const iterator = stream[Symbol.asyncIterator]()
  return pulled(stream, async (controller) => {
    const step = await iterator.next()
    if (step.done === true) controller.close()
    else controller.enqueue(step.value)
  })
}

/**
 * One `update` event for each update (`restart` where the call begins anew), then one `done`, or an
 * `error` with the code alone. SDK objects (`raw`) stay behind.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function serverSentEvents<Update, Final>(
  stream: ResponseStream<Update, Final>,
): ReadableStream<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const event = (name: string, data: unknown): Uint8Array =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data, withoutRaw)}\n\n`)
  return pulled(stream, async (controller) => {
    try {
      const { done, value } = await iterator.next()
      if (done !== true) {
        const name = (value as TextUpdate).restart === true ? 'restart' : 'update'
        controller.enqueue(event(name, value))
        return
      }
      controller.enqueue(event('done', {}))
    } catch (error) {
      await stream.cancel(error)
      const code = LamellaError.is(error) ? error.code : 'run_failed'
      controller.enqueue(event('error', { code }))
    }
    controller.close()
  })
}

/** What is read of it is pulled from the stream, and nothing before that. */
function pulled<Chunk>(
  stream: Pick<ResponseStream<unknown, unknown>, 'cancel'>,
  pull: (controller: ReadableStreamDefaultController<Chunk>) => Promise<void>,
): ReadableStream<Chunk> {
  const cancel = (reason: unknown): Promise<void> => stream.cancel(reason)
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}

function withoutRaw(key: string, value: unknown): unknown {
  return key === 'raw' ? undefined : value
}
