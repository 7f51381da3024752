import type { ChatContext, ChatMiddleware, Message } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { defineChatMiddleware, attemptOf, reporter } from '@lamella/core/authoring'
import { estimateTokens } from '@lamella/text'
import { clearResults } from './clear-results.ts'
import { ContextOverflowError } from '../turns/context-overflow-error.ts'
import { currentRun } from '../turns/current-run.ts'
import { cutHistory } from './cut-history.ts'
import type { HistoryEvent, HistoryTruncatorOptions } from './history-options.ts'
import { checkHistoryOptions } from './history-options.ts'
import { TokenMeter } from '../turns/token-meter.ts'
import { modelOfCall, tokensOfShare } from '../texts/window-share.ts'

/**
 * Limits a call to a number of messages or tokens by removing whole turns.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { historyTruncator } from '@lamella/middleware-truncate'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = historyTruncator({ maxTokens: 8_000 })
 * const agent = new Agent({ client: scriptedClient(['Hello.']), middleware })
 * await agent.run('Hi')
 * ```
 */
export function historyTruncator(options: HistoryTruncatorOptions = {}): ChatMiddleware {
  checkHistoryOptions(options)
  const { name = 'truncate', mode, maxTokens, headroom = 0, persist = false, keep = {} } = options
  const { maxMessages = maxTokens === undefined ? 30 : Infinity, onContextLength = 0.7 } = options
  const { notice = 'Earlier messages of this conversation are not shown.', countTokens } = options
  const { calibrate = countTokens === undefined } = options
  const meter = new TokenMeter({ countTokens, calibrate })
  const noticeTokens = notice === false ? 0 : (countTokens ?? estimateTokens)(notice)
  const report = reporter('truncate', options.onEvent)

  return defineChatMiddleware('truncate', options, async (context, callNext) => {
    const limit = limitOf(context)
    shorten(context, { maxMessages, maxTokens: limit }, 'limit')
    try {
      const { usage } = await callNext()
      if (limit < Infinity) meter.learn(context, usage.inputTokens)
    } catch (error) {
      const isMine = isTooLong(error) && !context.released && mode !== 'shadow'
      if (onContextLength === false || !isMine) throw error
      const sent = measure(context, context.messages)
      const smaller = Math.floor(sent * onContextLength)
      context.run.recordAttempt(attemptOf(context, { error }))
      shorten(context, { maxMessages, maxTokens: smaller }, 'context_length', error)
      try {
        await callNext()
      } catch (again) {
        throw isTooLong(again) ? overflow(context, context.messages, smaller, again) : again
      }
    }
  })

  function limitOf(context: ChatContext): number {
    if (typeof maxTokens === 'function') return maxTokens(context)
    if (typeof maxTokens !== 'object') return maxTokens ?? Infinity
    return tokensOfShare('historyTruncator', maxTokens, modelOfCall(context))
  }

  /** Returns the tokens of a call with these messages, as the provider would count them. */
  function measure(context: ChatContext, messages: readonly Message[]): number {
    return Math.ceil((meter.overhead(context) + meter.ofAll(messages)) * meter.factor(context))
  }

  function shorten(
    context: ChatContext,
    limits: { readonly maxMessages: number; readonly maxTokens: number },
    reason: HistoryEvent['reason'],
    cause?: unknown,
  ): void {
    const before = context.messages
    const counts = limits.maxTokens < Infinity
    const cleared = counts ? clear(context, limits.maxTokens) : before
    const { messages, tokens } = cut(context, cleared, limits)
    if (messages === before && tokens <= limits.maxTokens) return
    const fits = tokens <= limits.maxTokens
    report(context.run, {
      middleware: name,
      action: !fits ? 'overflow' : messages.length < before.length ? 'cut' : 'clear',
      reason,
      messagesBefore: before.length,
      messagesAfter: messages.length,
      ...(counts && { tokens, limit: limits.maxTokens }),
    })
    if (mode === 'shadow') return
    if (!fits) throw overflow(context, messages, limits.maxTokens, cause)
    context.metadata['originalMessageCount'] = before.length
    context.metadata['prunedMessageCount'] = before.length - messages.length
    context.messages = messages
    if (messages.length === before.length) return
    if (notice !== false) context.instructions = withNotice(context.instructions, notice)
    if (persist) {
      const sent = new Set(messages)
      const gone = new Set(cleared.filter((entry) => !sent.has(entry)).map(({ id }) => id))
      context.run.messages.rewrite((all) => all.filter(({ id }) => !gone.has(id)))
    }
  }

  function clear(context: ChatContext, limit: number): readonly Message[] {
    const { messages } = context
    if (options.clearResults === undefined || measure(context, messages) <= limit) return messages
    const {
      keep: rounds = 3,
      exclude = [],
      placeholder = '[This result was left out. Call the tool again if it is needed.]',
    } = options.clearResults
    const { isUnread } = currentRun(context)
    return clearResults(messages, { keep: rounds, exclude, placeholder, isUnread })
  }

  function cut(
    context: ChatContext,
    messages: readonly Message[],
    limits: { readonly maxMessages: number; readonly maxTokens: number },
  ): { readonly messages: readonly Message[]; readonly tokens: number } {
    const counts = limits.maxTokens < Infinity
    const whole = counts ? measure(context, messages) : 0
    if (messages.length <= limits.maxMessages && whole <= limits.maxTokens) {
      return { messages, tokens: whole }
    }
    const factor = meter.factor(context)
    const { firstUser = false, currentRun: isWhole = true, pinned = () => false } = keep
    const left = cutHistory(
      messages,
      {
        maxMessages: limits.maxMessages,
        maxTokens: limits.maxTokens / factor,
        overheadTokens: counts ? meter.overhead(context) + noticeTokens : 0,
        tokensOf: (entry) => (counts ? meter.of(entry) : 0),
        headroom,
      },
      { firstUser, currentRun: isWhole, isPinned: pinned, current: currentRun(context) },
    )
    return { messages: left.messages, tokens: Math.ceil(left.tokens * factor) }
  }

  function overflow(
    context: ChatContext,
    messages: readonly Message[],
    limit: number,
    cause: unknown,
  ): ContextOverflowError {
    const factor = meter.factor(context)
    const largest = messages.reduce((most, entry) => Math.max(most, meter.of(entry)), 0)
    return new ContextOverflowError(
      { needed: measure(context, messages), limit, largest: Math.ceil(largest * factor) },
      { provider: context.client.provider, cause },
    )
  }
}

function isTooLong(error: unknown): boolean {
  return isProviderError(error) && error.kind === 'context_length'
}

function withNotice(instructions: string | undefined, notice: string): string {
  if (instructions?.endsWith(notice)) return instructions
  return instructions === undefined ? notice : `${instructions}\n\n${notice}`
}
