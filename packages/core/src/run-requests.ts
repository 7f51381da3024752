import { createSecretId } from './create-id.ts'
import { LamellaError } from './lamella-error.ts'
import type { RunEvent, RunRequestInit } from './run-events.ts'
import { unlessAborted } from './unless-aborted.ts'
import { formatIssues, validate } from './validate.ts'

type Question = RunEvent & { readonly id: string }

/** The run that a question is of. */
interface Asker {
  readonly runId: string
  readonly signal: AbortSignal
  readonly send: (event: Question) => void
  /** Answers by itself; `undefined` leaves it to `respond`. */
  readonly onRequest: ((event: Question) => unknown) | undefined
}

/** The questions of one run that wait for the caller's answer. */
export class RunRequests {
  readonly #waiting = new Map<string, (value: unknown) => void>()

  /** False if nobody waits for this id, as when it was answered before. */
  respond(id: string, value: unknown): boolean {
    this.#waiting.get(id)?.(value)
    return this.#waiting.delete(id)
  }

  /** The waiter is there before the question goes out, so that no answer is lost. */
  async ask<Value>(
    { type, data, schema, timeoutMs = 300_000 }: RunRequestInit<Value>,
    { runId, signal, send, onRequest }: Asker,
  ): Promise<Value> {
    if (!(timeoutMs > 0)) {
      throw new RangeError(`run.request: \`timeoutMs\` must be more than 0, got ${timeoutMs}`)
    }
    signal.throwIfAborted()
    const id = createSecretId('request')
    const late = `nobody answered the request "${type}" within ${timeoutMs} ms`
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      const answered = new Promise<unknown>((resolve, reject) => {
        this.#waiting.set(id, resolve)
        const onLate = (): void => reject(new LamellaError(late, { code: 'timeout' }))
        timer = setTimeout(onLate, timeoutMs)
        const event = { type, data, runId, id }
        send(event)
        if (onRequest !== undefined) this.#relay(event, onRequest)
      })
      const answer = await unlessAborted(signal, answered)
      const checked = schema ? await validate(schema, answer) : { value: answer as Value }
      if (checked.issues === undefined) return checked.value
      throw new LamellaError(
        `the answer to the request "${type}" does not fit its schema: ${formatIssues(checked.issues)}`,
        { code: 'schema_invalid' },
      )
    } finally {
      this.#waiting.delete(id)
      clearTimeout(timer)
    }
  }
  #relay(event: Question, onRequest: NonNullable<Asker['onRequest']>): void {
    const answer = (async () => onRequest(event))()
    answer.then(
      (value) => value !== undefined && this.respond(event.id, value),
      // A caller that cannot answer fails the question.
      () => this.respond(event.id, answer),
    )
  }
}
