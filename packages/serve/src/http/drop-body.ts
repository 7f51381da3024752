import { callLater, systemClock } from '@lamella/core/authoring'

/**
 * Reads the rest of a refused body, within limits. A proxy that passes a body on while it comes
 * closes the connection of a client that is answered before the end of it.
 */
export async function dropBody({ body, signal }: Request): Promise<void> {
  if (body === null || body.locked || signal.aborted) return
  const reader = body.getReader()
  const late = new Promise<{ done: true }>((resolve) => {
    const end = (): void => resolve({ done: true })
    const stopTimer = callLater(systemClock, mostMs, end)
    signal.addEventListener('abort', end, { once: true })
    reader.closed.then(stopTimer, stopTimer)
  })
  try {
    for (let bytes = 0; bytes < mostBytes; ) {
      // oxlint-disable-next-line no-await-in-loop
      const next = await Promise.race([reader.read(), late])
      if (next.done) return
      bytes += next.value.byteLength
    }
  } catch {
    // The connection has broken.
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

const mostBytes = 16_000_000
const mostMs = 2000
