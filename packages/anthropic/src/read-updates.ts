import type { ChatResponseUpdate } from '@lamella/core'
import type { FailureContext } from './anthropic-error.ts'
import { failed, InBandFailure, toProviderError } from './anthropic-error.ts'
import type { ArrivedUpdates } from './arrived-updates.ts'
import type { MessagesUpdates } from './messages-updates.ts'
import { rateLimitUpdates } from './rate-limit-info.ts'
import type { SseEvent } from './sse-events.ts'
import { SseReader } from './sse-events.ts'
import { unreadable } from './whole-response.ts'
import { record } from './wire.ts'

export interface StreamedCall {
  /** Sends the request and resolves when the answer's headers are there. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  readonly mapper: () => MessagesUpdates
  readonly failure: FailureContext
}

/** Why the stream is no answer, in words. The error is made when all that arrived is known. */
class Break {
  readonly words: string

  constructor(words: string) {
    this.words = words
  }
}

/**
 * The updates of an answer, up to `message_stop`: a cut, a missing end and an error inside the
 * stream reject, with what had arrived in `partial`. `onData` is told whether data held an update.
 */
export async function* readUpdates(
  call: StreamedCall,
  transport: AbortSignal,
  arrived: ArrivedUpdates,
  onData: (isUpdate: boolean) => void,
): AsyncGenerator<ChatResponseUpdate, undefined> {
  const mapper = call.mapper()
  let { failure } = call
  let reader: SseReader | undefined
  try {
    const response = await call.open(transport)
    failure = { ...failure, headers: response.headers }
    reader = await readerOf(response, failure)
    // Told with the first update of the answer: by itself it would be one before there is any.
    let limits = rateLimitUpdates(response)
    const updates: ChatResponseUpdate[] = []
    while (!mapper.isOver) {
      const events = await reader.read()
      for (const event of events ?? reader.rest()) {
        updates.length = 0
        mapper.map(parse(event, events === undefined), updates)
        if (updates.length > 0) {
          updates.unshift(...limits)
          limits = []
        }
        onData(updates.length > 0)
        for (const update of updates) {
          arrived.add(update)
          yield update
        }
        if (mapper.isOver) break
      }
      if (events === undefined && !mapper.isOver) {
        throw arrived.isEmpty && reader.isForeign
          ? unreadable('text', 'a stream', failure)
          : new Break('the stream broke off before its end')
      }
      onData(false)
    }
    void reader.release()
  } catch (error) {
    const partial = arrived.isEmpty ? undefined : arrived.response()
    const context = { ...failure, partial }
    throw error instanceof Break
      ? failed('truncated_stream', context, { words: error.words })
      : toProviderError(error, context)
  } finally {
    if (!mapper.isOver) void reader?.cancel()
  }
  return undefined
}

async function readerOf(response: Response, failure: FailureContext): Promise<SseReader> {
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || /\bjson\b|html|xml/i.test(type)) {
    throw unreadable(await response.text(), 'a stream', failure)
  }
  return new SseReader(response.body)
}

function parse({ event, data }: SseEvent, isEnd: boolean): unknown {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    // Without the parser's error: its message quotes the text.
    const words = isEnd
      ? 'the stream broke off inside an event'
      : 'an event of the stream is not JSON'
    throw new Break(words)
  }
  if (event === 'error' || record(value)['error']) throw new InBandFailure(value)
  return value
}
