import type { ChatContext, ChatMiddleware, Message } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import {
  defineChatMiddleware,
  isControlFlow,
  reporter,
  unlessAborted,
} from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import { currentRun } from '../turns/current-run.ts'
import { summaryChunks } from './summary-chunks.ts'
import { summaryMessage } from '../turns/summary-message.ts'
import type { SummarizerOptions, SummaryEvent } from './summarizer-options.ts'
import { checkSummarizerOptions } from './summarizer-options.ts'
import { TokenMeter } from '../turns/token-meter.ts'
import { modelOfCall, tokensOfShare } from '../texts/window-share.ts'
import { writeSummary } from './write-summary.ts'

/**
 * Replaces the beginning of a conversation that has become too long with a summary.
 * @throws TypeError or RangeError that names the option and the value
 */
export function summarizer(options: SummarizerOptions = {}): ChatMiddleware {
  checkSummarizerOptions(options)
  const { name = 'summarize', mode, maxMessages = Infinity, keepMessages = 20, pinned } = options
  const { maxTokens = maxMessages === Infinity ? 100_000 : Infinity, background = false } = options
  const { prefix = 'Summary of the conversation so far, in place of its first messages:' } = options
  const { persist = true, onError = 'open', countTokens } = options
  const { calibrate = countTokens === undefined } = options
  const storeOf = perStore(options.store, (store) => store ?? memoryStore({ maxEntries: 100 }))
  const meter = new TokenMeter({ countTokens, calibrate })
  const report = reporter('summarize', options.onEvent)

  const middleware = defineChatMiddleware('summarize', options, async (context, callNext) => {
    const limit =
      typeof maxTokens === 'object'
        ? tokensOfShare('summarizer', maxTokens, modelOfCall(context))
        : maxTokens
    const excess = excessOf(context, limit)
    const chunks = excess > 1 ? divide(context, limit) : []
    if (chunks.length > 0 && mode === 'shadow') tell(context, 'summarized', chunks)
    else if (chunks.length > 0 && background !== false && excess <= background.upTo) {
      return beside(context, chunks, callNext)
    } else if (chunks.length > 0) {
      const summary = await attempt(context, chunks, context.signal)
      if (summary !== undefined) context.messages = replace(context, chunks.flat(), summary)
    }
    const { usage } = await callNext()
    if (limit < Infinity) meter.learn(context, usage.inputTokens)
  })
  // The summarizing model gets the conversation past all middleware further inside.
  return mode === 'off' ? middleware : { ...middleware, inside: ['pii'] }

  /** Returns the factor by which a call exceeds its limit, for the limit that it exceeds most. */
  function excessOf(context: ChatContext, limit: number): number {
    const { messages } = context
    const byMessages = messages.length / maxMessages
    if (limit === Infinity) return byMessages
    const tokens = (meter.overhead(context) + meter.ofAll(messages)) * meter.factor(context)
    return Math.max(byMessages, tokens / limit)
  }

  function divide(context: ChatContext, limit: number): readonly (readonly Message[])[] {
    return summaryChunks(context.messages, {
      stepMessages: maxMessages - keepMessages,
      stepTokens: limit / meter.factor(context) / 2,
      keepMessages,
      tokensOf: (entry) => meter.of(entry),
      isPinned: pinned ?? (() => false),
      current: currentRun(context),
    })
  }

  async function beside(
    context: ChatContext,
    chunks: readonly (readonly Message[])[],
    callNext: () => Promise<unknown>,
  ): Promise<void> {
    const own = new AbortController()
    const signal = AbortSignal.any([context.signal, own.signal])
    const writing = attempt(context, chunks, signal)
    writing.catch(() => {})
    try {
      await callNext()
    } catch (error) {
      own.abort(error)
      throw error
    }
    const summary = await unlessAborted(context.signal, writing)
    if (summary !== undefined) replace(context, chunks.flat(), summary)
  }

  /** Returns the summary; `undefined` if there is none and the call continues without one. */
  async function attempt(
    context: ChatContext,
    chunks: readonly (readonly Message[])[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      const summary = await writeSummary(
        context,
        chunks,
        { ...options, store: storeOf(context.run) },
        signal,
      )
      tell(context, 'summarized', chunks, summary.calls)
      return summary.text
    } catch (error) {
      if (isControlFlow(error, signal) || onError === 'closed') throw error
      tell(context, 'failed', chunks)
      return undefined
    }
  }

  /** Returns the messages of the call, with the summary replacing the removed ones. */
  function replace(
    context: ChatContext,
    gone: readonly Message[],
    summary: string,
  ): readonly Message[] {
    const ids = new Set(gone.map(({ id }) => id))
    const stand = summaryMessage(name, gone, `${prefix}\n\n${summary}`)
    const inPlace = (messages: readonly Message[]): readonly Message[] => {
      const at = messages.findIndex(({ id }) => ids.has(id))
      if (at < 0) return messages
      return messages.flatMap((entry, index) =>
        index === at ? [stand] : ids.has(entry.id) ? [] : [entry],
      )
    }
    if (persist) context.run.messages.rewrite(inPlace)
    return inPlace(context.messages)
  }

  function tell(
    context: ChatContext,
    action: SummaryEvent['action'],
    chunks: readonly (readonly Message[])[],
    calls = 0,
  ): void {
    const messages = chunks.reduce((sum, { length }) => sum + length, 0)
    report(context.run, { middleware: name, action, messages, calls })
  }
}
