import type { ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { onAbort, backgroundTimer } from '@lamella/core/authoring'
import type { TransportCall } from './transport-call.ts'
import type { AnswerMapper } from './unwrap-answer.ts'
import { TransportFault, reading, unreadable } from '../failures/transport-fault.ts'
import type { WireObject } from '../wire/wire.ts'
import { parseObject } from '../wire/wire.ts'

/** A call whose answer comes in one piece. */
export interface WholeCall extends TransportCall {
  /** Returns true if JSON is an answer of this API. */
  readonly isAnswer: (body: WireObject) => boolean
  /** Name of an answer in an error, such as `a message`. */
  readonly wanted: string
  /** Milliseconds for the body, after the headers. `Infinity` sets no limit. */
  readonly bodyTimeoutMs: number
}

/** An answer that came in one piece. */
export interface WholeAnswer {
  /** Body, parsed. */
  readonly body: WireObject
  /** HTTP headers. */
  readonly headers: Headers
}

/** Parts of a call that make a response of its answer. */
export interface ResponseParts extends Pick<TransportCall, 'toError'> {
  /** Makes the mapper of this answer. */
  readonly mapper: () => Pick<AnswerMapper, 'whole'>
  /** Returns updates for the headers of the answer. */
  readonly headerUpdates: (headers: Headers) => readonly ChatResponseUpdate[]
}

/**
 * Makes the response of an answer.
 * @throws the error of `toError`, with what the mapper had read
 */
export function responseOf(
  { body: raw, headers }: WholeAnswer,
  { mapper, headerUpdates, toError }: ResponseParts,
): ChatResponse {
  const updates = [...headerUpdates(headers)]
  try {
    reading(() => mapper().whole(raw, updates))
  } catch (error) {
    throw toError(error, { partial: foldUpdates(updates), headers })
  }
  return { ...foldUpdates(updates), raw }
}

/** Resolves to the JSON answer of a call. An abort rejects at once with the signal's reason. */
export function readWhole(call: WholeCall): Promise<WholeAnswer> {
  const { signal, bodyTimeoutMs } = call
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const transport = new AbortController()
    let stopTimer: (() => void) | undefined
    let headers: Headers | undefined
    const fail = (error: unknown): void => {
      reject(error)
      transport.abort(error)
    }
    const stop = onAbort(signal, fail)
    const receive = async (): Promise<WholeAnswer> => {
      const response = await call.open(transport.signal)
      headers = response.headers
      const words = `no complete answer within ${bodyTimeoutMs} ms of its headers`
      const stall = (): void =>
        fail(call.toError(new TransportFault('timeout', words), { headers }))
      stopTimer = backgroundTimer(stall, bodyTimeoutMs)
      const text = await response.text()
      const body = parseObject(text)
      if (body !== undefined && call.isAnswer(body)) return { body, headers: response.headers }
      throw unreadable(text, call.wanted, call.reportIn)
    }
    receive()
      .finally(() => {
        stopTimer?.()
        stop()
      })
      .then(resolve, (error: unknown) => reject(call.toError(error, { headers })))
  })
}
