import type { ChatClient, ChatContext, ChatMiddleware } from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import {
  chatLayer,
  checkOptions,
  layerRules,
  reporter,
  systemClock,
  wrongOption,
} from '@lamella/core/authoring'
import { checkClasses, isOfClass } from './failure-class.ts'
import type { FailureClass } from './failure-class.ts'
import { FallbackCall } from './fallback-call.ts'
import type { FallbackSettings } from './fallback-call.ts'
import type { FallbackEntry, FallbackFailure } from './fallback-entry.ts'
import { entryRules, isClient } from './fallback-entry.ts'
import type { FallbackEvent } from './fallback-event.ts'
import { stickyClient } from './sticky-client.ts'

export interface FallbackOptions extends LayerOptions<ChatContext, FallbackEvent> {
  /** Clients to go on with, in order, when the call's own one fails. */
  readonly clients: readonly (ChatClient | FallbackEntry)[]
  /**
   * After which failures: classes, or a function; where that gives `undefined`, the default decides.
   * @default ['transient', 'quota', 'not_found']
   */
  readonly fallbackOn?:
    | readonly FailureClass[]
    | ((failure: FallbackFailure) => boolean | undefined | Promise<boolean | undefined>)
    | undefined
  /**
   * Milliseconds that each client has, the call's own one too: until the first content of a streamed
   * answer, or the whole of a plain one.
   * @default no limit
   */
  readonly timeoutMs?: number | undefined
  /**
   * `run`: the client that served is asked first in later calls of the run.
   * @default 'run'
   */
  readonly sticky?: 'run' | 'none' | undefined
  /**
   * When a stream fails after content has reached the reader: the error reaches the reader, or the next
   * client begins anew, or it goes on from the text that came. The last two send an update with
   * `restart: true`.
   * @default 'error'
   */
  readonly midStream?: 'error' | 'restart' | 'continue' | undefined
  /**
   * What a client that goes on from a text is asked to do, as the last message of the user.
   * @default that its answer was cut off, and to go on without repeating anything
   */
  readonly continuePrompt?: string | undefined
  /**
   * Whether another client is asked after a call that may have had an effect at the first one.
   * @default 'safe-only'
   */
  readonly replay?: 'safe-only' | 'any' | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

/**
 * Goes on with another client when one fails. The layers further in run for each.
 * @throws RangeError or TypeError that names the option and the value
 */
export function fallback(options: FallbackOptions): ChatMiddleware {
  check(options)
  const { name = 'fallback', fallbackOn, sticky = 'run' } = options
  const classes = typeof fallbackOn === 'object' ? fallbackOn : usual
  const policy = typeof fallbackOn === 'function' ? fallbackOn : undefined
  const entries = options.clients.map((entry) => (isClient(entry) ? { client: entry } : entry))
  const hasTimes = [options, ...entries].some(({ timeoutMs }) => timeoutMs !== undefined)
  const settings: FallbackSettings = {
    name,
    isShadow: options.mode === 'shadow',
    entries,
    watchesAnswer: hasTimes || options.midStream === 'continue',
    qualifies: async (failure) => (await policy?.(failure)) ?? isOfClass(failure.error, classes),
    timeoutMs: options.timeoutMs,
    sticky: sticky === 'run' ? stickyClient(name) : undefined,
    midStream: options.midStream ?? 'error',
    continuePrompt: options.continuePrompt ?? goOn,
    replay: options.replay ?? 'safe-only',
    clock: options.clock ?? systemClock,
    report: reporter('fallback', options.onEvent),
  }
  return chatLayer('fallback', options, (context, callNext) =>
    new FallbackCall(settings, context).run(callNext),
  )
}

const usual: readonly FailureClass[] = ['transient', 'quota', 'not_found']
const goOn =
  'Your answer was cut off. Go on exactly where it ends, in the middle of a word if need be. ' +
  'Repeat nothing, and do not comment on this.'

function check(options: FallbackOptions): void {
  const { clients, timeoutMs } = options
  checkOptions('fallback', options, {
    ...layerRules,
    clients: 'any',
    fallbackOn: 'any',
    timeoutMs: 'any',
    sticky: ['run', 'none'],
    midStream: ['error', 'restart', 'continue'],
    continuePrompt: 'string?',
    replay: ['safe-only', 'any'],
    clock: 'any',
  })
  checkClasses('fallback', 'fallbackOn', options.fallbackOn)
  if (!Array.isArray(clients) || clients.length === 0) {
    throw wrongOption('fallback', 'clients', 'a list of clients that is not empty', typeof clients)
  }
  const times: [string, number | undefined][] = [['timeoutMs', timeoutMs]]
  for (const [index, given] of clients.entries()) {
    const entry = isClient(given) ? { client: given } : given
    const at = `clients.${index}`
    if (typeof entry?.client?.respond !== 'function') {
      throw wrongOption('fallback', at, 'a client, or an object with a `client`', typeof given)
    }
    times.push([`${at}.timeoutMs`, entry.timeoutMs])
    checkOptions('fallback', { clients: { [index]: entry } }, { clients: { [index]: entryRules } })
  }
  for (const [option, ms] of times) {
    if (ms === undefined || (ms > 0 && ms < 2 ** 31)) continue
    throw wrongOption('fallback', option, 'above 0 and less than 2 ** 31', ms)
  }
}
