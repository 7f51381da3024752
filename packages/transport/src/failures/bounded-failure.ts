import { backgroundTimer } from '@lamella/core/authoring'

/**
 * The response of a failure status with a body that ends after `bodyTimeoutMs`, with what has come by
 * then: SDKs read such a body to its end without a limit. Answers are not touched.
 */
export function boundedFailure(response: Response, bodyTimeoutMs: number): Response {
  const { ok, body, status, statusText, headers } = response
  if (ok || body === null || bodyTimeoutMs === Infinity) return response
  const reader = body.getReader()
  // A read that waits when the reader is cancelled resolves as the end of the body.
  const end = (): void => void reader.cancel().catch(() => undefined)
  const stopTimer = backgroundTimer(end, bodyTimeoutMs)
  const limited = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          controller.enqueue(value)
          return
        }
        stopTimer()
        controller.close()
      } catch (error) {
        stopTimer()
        throw error
      }
    },
    async cancel(reason) {
      stopTimer()
      await reader.cancel(reason)
    },
  })
  return new Response(limited, { status, statusText, headers })
}
