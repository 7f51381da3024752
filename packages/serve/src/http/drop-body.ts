import { callLater, systemClock } from '@lamella/core/authoring'

/**
 * Reads the rest of a refused body, within limits. A proxy that passes a body on while it comes
 * closes the connection of a client that is answered before the end of it.
 */
export async function dropBody({ body, signal }: Request): Promise<void> {
  if (body === null || body.locked || signal.aborted) return
  const reader = body.getReader()
  await readRest(() => reader.read(), signal)
  reader.cancel().catch(() => undefined)
}

/** Reads and drops what is left of a body. Resolves to false if that is too long or too slow. */
export async function readRest(
  next: () => Promise<{ readonly done?: boolean; readonly value?: Uint8Array | undefined }>,
  signal?: AbortSignal,
): Promise<boolean> {
  let stopTimer: (() => void) | undefined
  const late = new Promise<undefined>((resolve) => {
    const end = (): void => resolve(undefined)
    stopTimer = callLater(systemClock, mostMs, end)
    signal?.addEventListener('abort', end, { once: true })
  })
  try {
    for (let bytes = 0; bytes < mostBytes; ) {
      // oxlint-disable-next-line no-await-in-loop
      const step = await Promise.race([next(), late])
      if (step === undefined) return false
      if (step.done === true) return true
      bytes += step.value!.byteLength
    }
    return false
  } catch {
    // The connection has broken.
    return true
  } finally {
    stopTimer?.()
  }
}

const mostBytes = 16_000_000
const mostMs = 2000
