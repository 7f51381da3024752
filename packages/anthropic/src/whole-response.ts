import type { FailureContext } from './anthropic-error.ts'
import { failed, InBandFailure, toProviderError } from './anthropic-error.ts'
import { longestTimerMs } from './stall-timer.ts'
import type { WireObject } from './wire.ts'
import { record, stringOf } from './wire.ts'

export interface WholeCall {
  /** Sends the request and resolves when the answer's headers are there. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  readonly signal: AbortSignal
  readonly failure: FailureContext
  /** How long the body may take once the headers are there. */
  readonly bodyTimeoutMs: number
}

/** The message that a call answers with. An abort rejects at once with the signal's reason. */
export function readWhole(call: WholeCall): Promise<WireObject> {
  const { signal, failure, bodyTimeoutMs } = call
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const transport = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = (error: unknown): void => {
      reject(error)
      transport.abort(error)
    }
    const onAbort = (): void => stop(signal.reason)
    const receive = async (): Promise<WireObject> => {
      const response = await call.open(transport.signal)
      if (bodyTimeoutMs !== Infinity) {
        const words = `no complete answer within ${bodyTimeoutMs} ms of its headers`
        const stall = (): void => stop(failed('timeout', failure, { words }))
        timer = setTimeout(stall, Math.min(bodyTimeoutMs, longestTimerMs))
        timer.unref?.()
      }
      const text = await response.text()
      const answer = parseObject(text)
      if (Array.isArray(answer?.['content'])) return answer
      throw toProviderError(unreadable(text, 'a message', failure), {
        ...failure,
        headers: response.headers,
      })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    receive()
      .then(resolve, (error: unknown) => reject(toProviderError(error, failure)))
      .finally(() => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      })
  })
}

/** What to make of an answer that is not what was asked for. */
export function unreadable(text: string, wanted: string, failure: FailureContext): unknown {
  const answer = parseObject(text)
  const { error, message, detail } = answer ?? {}
  if (error || stringOf(message) || stringOf(detail)) return new InBandFailure(answer)
  if (text.trim() === '') {
    return failed('server', failure, { words: `the answer is empty instead of ${wanted}` })
  }
  const isPage = /^\s*</.test(text)
  const words = isPage
    ? `the answer is a web page instead of ${wanted}: is \`baseURL\` right?`
    : `the answer is ${answer ? 'JSON' : 'text'} instead of ${wanted}`
  return failed('server', failure, { words, retryable: !isPage && !answer })
}

function parseObject(text: string): WireObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? record(value)
      : undefined
  } catch {
    return undefined
  }
}
