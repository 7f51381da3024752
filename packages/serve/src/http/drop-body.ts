import { systemClock, withinTime } from '@lamella/core/authoring'

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
  const end = systemClock.now() + mostMs
  try {
    for (let bytes = 0; bytes < mostBytes; ) {
      const timeoutMs = Math.min(silenceMs, end - systemClock.now())
      // oxlint-disable-next-line no-await-in-loop
      const step = await withinTime(next(), { timeoutMs, signal }, () => undefined)
      if (step.done === true) return true
      bytes += step.value!.byteLength
    }
    return false
  } catch (error) {
    // Too slow, or the connection has broken.
    return error !== undefined && signal?.aborted !== true
  }
}

const mostBytes = 16_000_000
const mostMs = 10_000
/** Most time between two pieces: a slow network delivers some sooner. */
const silenceMs = 2000
