import type { ResponseStream } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import type { ClientContent } from './client-updates.ts'
import { clientContents, clientOutcome, clientUpdate } from './client-updates.ts'

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
 * Returns a stream as server-sent events, ready to be the body of a `Response`: one `update` event
 * for each update that holds something for the client (`restart` where the call begins again), then
 * one `done` with the status, or an `error` with the code alone. They hold text, refusals,
 * restarts, public events and the status, and for a paused run the id, tool and arguments of each
 * request; `include` asks for more.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 *
 * @throws RangeError for an unknown name in `include`
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { toSSE } from '@lamella/serve'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const response = new Response(toSSE(agent.run('Hi', { stream: true })), {
 *   headers: { 'content-type': 'text/event-stream' },
 * })
 * console.log(await response.text()) // event: update …
 * ```
 */
export function toSSE<Update, Final>(
  stream: ResponseStream<Update, Final>,
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
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
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
  }
  const cancel = (reason: unknown): Promise<void> => stream.cancel(reason)
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}
