import { createSecretId } from './create-id.ts'
import { LamellaError } from './lamella-error.ts'
import type { RunEvent, RunRequestInit } from './run-events.ts'
import { formatIssues, validate } from './validate.ts'

interface Waiting {
  readonly settle: (value: unknown) => void
}

/** The questions of one run that wait for the caller's answer. */
export class RunRequests {
  readonly #waiting = new Map<string, Waiting>()

  /** False if nobody waits for this id, as when it was answered before. */
  respond(id: string, value: unknown): boolean {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return false
    this.#waiting.delete(id)
    waiting.settle(value)
    return true
  }

  /** The waiter is there before the question goes out, so that no answer is lost. */
  async ask<Value>(
    { type, data, schema, timeoutMs = 300_000 }: RunRequestInit<Value>,
    runId: string,
    signal: AbortSignal,
    send: (event: RunEvent & { readonly id: string }) => void,
  ): Promise<Value> {
    if (!(timeoutMs > 0)) {
      throw new RangeError(`run.request: \`timeoutMs\` must be more than 0, got ${timeoutMs}`)
    }
    signal.throwIfAborted()
    const id = createSecretId('request')
    let timer: ReturnType<typeof setTimeout> | undefined
    let onAbort: (() => void) | undefined
    try {
      const answer = await new Promise<unknown>((resolve, reject) => {
        this.#waiting.set(id, { settle: resolve })
        onAbort = () => reject(signal.reason as Error)
        signal.addEventListener('abort', onAbort)
        timer = setTimeout(() => {
          reject(
            new LamellaError(`nobody answered the request "${type}" within ${timeoutMs} ms`, {
              code: 'timeout',
            }),
          )
        }, timeoutMs)
        send({ type, data, runId, id })
      })
      if (schema === undefined) return answer as Value
      const checked = await validate(schema, answer)
      if (checked.issues === undefined) return checked.value as Value
      throw new LamellaError(
        `the answer to the request "${type}" does not fit its schema: ${formatIssues(checked.issues)}`,
        { code: 'schema_invalid' },
      )
    } finally {
      this.#waiting.delete(id)
      clearTimeout(timer)
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
    }
  }
}
