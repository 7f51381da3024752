import { isObject } from '../base/is-object.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { ClientContent } from './client-updates.ts'
import { clientContents, clientOutcome, clientUpdate } from './client-updates.ts'
import { pulled } from './stream-views.ts'
import type { UpdateStream } from './update-stream.ts'

/** Options of `toSSE()`. */
export interface ServerSentEventsOptions {
  /**
   * Additional content to send, besides text, refusals, restarts, public events and the status:
   * `annotations` of texts, all `events`, `files` that the model made, `reasoning`, `tool-calls`
   * with their arguments, `tool-results`, `usage`. Error messages of tools, `providerData` and
   * `raw` are never sent.
   * @default []
   */
  readonly include?: readonly ClientContent[] | undefined
}

/**
 * One `update` event for each update that holds something for the client (`restart` where the call begins
 * again), then one `done` with the status, or an `error` with the code alone.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function serverSentEvents<Update, Final>(
  stream: UpdateStream<Update, Final>,
  options: ServerSentEventsOptions = {},
): ReadableStream<Uint8Array> {
  const include = clientContents('toSSE', options.include)
  const iterator = stream[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const event = (name: string, data: unknown): Uint8Array =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) return undefined
      const shown = isObject(value) ? clientUpdate(value, include) : value
      if (shown === undefined) continue
      return event(isObject(value) && value['restart'] === true ? 'restart' : 'update', shown)
    }
  }
  return pulled(stream, async (controller) => {
    try {
      const chunk = await next()
      if (chunk !== undefined) {
        controller.enqueue(chunk)
        return
      }
      controller.enqueue(event('done', clientOutcome(await stream.finalResponse())))
    } catch (error) {
      await stream.cancel(error)
      const code = LamellaError.is(error) ? error.code : 'run_failed'
      controller.enqueue(event('error', { code }))
    }
    controller.close()
  })
}
