import type { AgentResponseUpdate, Message } from '@lamella/core'
import type { ClientContent } from '../updates/client-updates.ts'
import { isProviderError, LamellaError } from '@lamella/core'
import { callLater, systemClock } from '@lamella/core/authoring'
import { clientUpdate } from '../updates/client-updates.ts'
import type { HttpFailure } from '../http/http-failure.ts'
import type { Final, OpenAIWriter } from './openai-writer.ts'

/** A stream of a run or of a model call. */
export interface AnswerSource extends AsyncIterable<AgentResponseUpdate> {
  finalResponse(): Promise<Final>
}

/** An answer in progress, and its form. */
export interface AnswerInit {
  /** Starts the answer. */
  readonly open: (signal: AbortSignal) => AnswerSource
  readonly include: ReadonlySet<ClientContent>
  /** True to send nothing before the end, so that a restart needs no event. */
  readonly holds: boolean
  readonly writer: OpenAIWriter
  /** Text appended to a run that waits for an approval. */
  readonly pausedText: string
  readonly mask: (error: unknown) => HttpFailure
  readonly report: (error: unknown) => void
}

const broken: ReadonlySet<string> = new Set(['network', 'truncated_stream'])

/** Reads an answer for a client of OpenAI's protocol. Neither API supports restarts. */
export class AnswerStream {
  readonly #init: AnswerInit
  readonly #abort = new AbortController()
  readonly #chunks: AsyncGenerator<string>
  #first: Promise<IteratorResult<string>> | undefined

  constructor(init: AnswerInit) {
    this.#init = init
    this.#chunks = this.#read()
  }

  /** Resolves at the first chunk, or after this time. Rejects if the answer fails before. */
  async opened(withinMs: number): Promise<void> {
    this.#first = this.#chunks.next()
    let stopTimer: (() => void) | undefined
    const late = new Promise<undefined>((resolve) => {
      stopTimer = callLater(systemClock, withinMs, () => resolve(undefined))
    })
    try {
      await Promise.race([this.#first, late])
    } finally {
      stopTimer?.()
    }
  }

  /** The next chunk. A failure is one, too. */
  async next(): Promise<string | undefined> {
    const step = this.#first ?? this.#chunks.next()
    this.#first = undefined
    try {
      const { done, value } = await step
      return done === true ? undefined : value
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** Reads to the end, for an answer as one object. */
  async whole(): Promise<object> {
    const { writer } = this.#init
    const stream = this.#stream()
    const final = await stream.finalResponse()
    for (const { role, contents } of final.messages) this.#add({ role, contents })
    this.#note(final)
    return writer.whole(final)
  }

  /** Ends the answer: its request is aborted. */
  cancel(cause: unknown): void {
    this.#abort.abort(new LamellaError('the reader left', { code: 'aborted', cause }))
    void this.#chunks.return(undefined)
  }

  async *#read(): AsyncGenerator<string> {
    const { writer, holds, include } = this.#init
    const stream = this.#stream()
    let hasSent = false
    for await (const update of stream) {
      if (holds) continue
      if (update.restart === true) {
        if (hasSent) {
          throw new LamellaError('the answer restarted after a part of it was sent', {
            code: 'stream_restarted',
          })
        }
        continue
      }
      const shown = clientUpdate(update, include)
      const chunk = shown === undefined ? '' : writer.add(shown)
      hasSent ||= chunk !== ''
      if (chunk !== '') yield chunk
    }
    const final = await stream.finalResponse()
    let chunk = ''
    if (holds)
      for (const { role, contents } of final.messages) chunk += this.#add({ role, contents })
    chunk += this.#note(final)
    yield chunk + writer.end(final)
  }

  #add(update: Partial<Pick<Message, 'role'>> & Pick<Message, 'contents'>): string {
    const shown = clientUpdate(update, this.#init.include)
    return shown === undefined ? '' : this.#init.writer.add(shown)
  }

  /** A run that waits for an approval says so in its text: neither API has another way. */
  #note({ status }: Final): string {
    if (status !== 'paused') return ''
    return this.#add({ contents: [{ type: 'text', text: this.#init.pausedText }] })
  }

  #stream(): ReturnType<AnswerInit['open']> {
    return this.#init.open(this.#abort.signal)
  }

  #fail(error: unknown): string | undefined {
    const { writer, mask, report } = this.#init
    if (!this.#abort.signal.aborted) report(error)
    // A provider's stream that broke off ends here without a last event too, as its readers expect it.
    if (isProviderError(error) && broken.has(error.kind)) return undefined
    return writer.fail(mask(error))
  }
}
