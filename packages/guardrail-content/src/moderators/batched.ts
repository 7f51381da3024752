import type { Clock } from '@lamella/core/authoring'

/** How requests are put together. */
export interface BatchOptions {
  readonly maxItems: number
  readonly maxWaitMs: number
  readonly clock: Clock
}

interface Waiting<Result> {
  readonly item: string
  readonly signal: AbortSignal
  readonly settle: (result: Promise<Result>) => void
}

/**
 * Combines calls within a short time into one request. An aborted call leaves it; the request is
 * aborted when all calls have left.
 */
export function batched<Result>(
  ask: (items: readonly string[], signal: AbortSignal) => Promise<readonly Result[]>,
  { maxItems, maxWaitMs, clock }: BatchOptions,
): (item: string, signal: AbortSignal) => Promise<Result> {
  let waiting: Waiting<Result>[] = []
  let wait: AbortController | undefined

  const send = (): void => {
    wait?.abort()
    wait = undefined
    const members = waiting.filter(({ signal }) => !signal.aborted)
    waiting = []
    if (members.length === 0) return
    const request = new AbortController()
    let present = members.length
    for (const { signal } of members) {
      const leave = (): void => {
        if (--present === 0) request.abort(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true, signal: request.signal })
    }
    const answer = ask(
      members.map(({ item }) => item),
      request.signal,
    )
    for (const [index, { settle }] of members.entries()) {
      settle(answer.then((results) => results[index]!))
    }
    // Nobody listens any more.
    answer.catch(() => {}).finally(() => request.abort())
  }

  return (item, signal) => {
    signal.throwIfAborted()
    return new Promise<Result>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error)
      signal.addEventListener('abort', onAbort, { once: true })
      const settle = (result: Promise<Result>): void => {
        result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
      }
      waiting.push({ item, signal, settle })
      if (waiting.length >= maxItems) send()
      else if (wait === undefined) {
        wait = new AbortController()
        clock.sleep(maxWaitMs, wait.signal).then(send, () => {})
      }
    })
  }
}
