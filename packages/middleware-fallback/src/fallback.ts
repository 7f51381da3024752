import type { ChatClient, ChatContext, ChatMiddleware } from '@lamella/core'
import type { Clock, MiddlewareOptions, RunPlan } from '@lamella/core/authoring'
import {
  defineChatMiddleware,
  checkOptions,
  middlewareRules,
  reporter,
  wrongOption,
} from '@lamella/core/authoring'
import { clientName } from './client-name.ts'
import { checkClasses, isOfClass } from './failure-class.ts'
import type { FailureClass } from './failure-class.ts'
import { FallbackCall } from './fallback-call.ts'
import type { FallbackSettings } from './fallback-call.ts'
import type { FallbackEntry, FallbackFailure } from './fallback-entry.ts'
import { entryRules, isClient } from './fallback-entry.ts'
import type { FallbackEvent } from './fallback-event.ts'
import { stickyClient } from './sticky-client.ts'

/** Options of `fallback`. */
export interface FallbackOptions extends MiddlewareOptions<ChatContext, FallbackEvent> {
  /** Clients to try in order when the call's own one fails. */
  readonly clients: readonly (ChatClient | FallbackEntry)[]
  /**
   * Failures to handle: classes, or a function; for `undefined` the default decides.
   * @default ['transient', 'quota', 'not_found']
   */
  readonly fallbackOn?:
    | readonly FailureClass[]
    | ((failure: FallbackFailure) => boolean | undefined | Promise<boolean | undefined>)
    | undefined
  /**
   * Time limit in milliseconds for each client, the call's own one too: for the first content of a
   * streamed answer, or for a whole plain one.
   * @default no limit
   */
  readonly timeoutMs?: number | undefined
  /**
   * `run` tries the client that served last first in later calls of the run.
   * @default 'run'
   */
  readonly sticky?: 'run' | 'none' | undefined
  /**
   * Behavior when a stream fails after content has reached the reader: throw the error, restart with the
   * next client, or let it continue the text so far. The last two send an update with `restart: true`.
   * @default 'error'
   */
  readonly midStream?: 'error' | 'restart' | 'continue' | undefined
  /**
   * Last user message for a client that continues a text.
   * @default tells it that its answer was cut off, and to continue without repeating anything
   */
  readonly continuePrompt?: string | undefined
  /**
   * `any` tries another client even after a call that may have had an effect at the first one.
   * @default 'safe-only'
   */
  readonly replay?: 'safe-only' | 'any' | undefined
  /**
   * Source of time and sleep.
   * @default the run's clock
   */
  readonly clock?: Clock | undefined
}

/**
 * Calls another client when one fails. Inner middleware runs for each client.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent, ProviderError } from '@lamella/core'
 * import { fallback } from '@lamella/middleware-fallback'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const down = scriptedClient([new ProviderError('down', { kind: 'overloaded', provider: 'a' })])
 * const middleware = fallback({ clients: [scriptedClient(['Hello.'])] })
 * const agent = new Agent({ client: down, middleware })
 * console.log((await agent.run('Hi')).text) // Hello.
 * ```
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
    clock: options.clock,
    report: reporter('fallback', options.onEvent),
  }
  const middleware = defineChatMiddleware('fallback', options, (context, callNext) =>
    new FallbackCall(settings, context).run(callNext),
  )
  return { ...middleware, review: (plan) => sameNames(name, entries, plan) }
}

/** Warns about clients that attempts, events and circuits cannot tell apart. */
function sameNames(
  middleware: string,
  entries: readonly FallbackEntry[],
  { client, model }: RunPlan,
): readonly string[] {
  const calls = [{ client, model }, ...entries]
  const names = calls.map((call) => clientName(call.client, call.model))
  const isSame = (one: number, other: number): boolean =>
    names[one] === names[other] && calls[one]?.client !== calls[other]?.client
  const doubled = names.filter((_, at) =>
    names.some((__, other) => other < at && isSame(at, other)),
  )
  return [...new Set(doubled)].map(
    (name) => `${middleware}: two clients are named ${name}; give each a \`name\` of its own`,
  )
}

const usual: readonly FailureClass[] = ['transient', 'quota', 'not_found']
const goOn =
  'Your answer was cut off. Continue exactly where it ends, in the middle of a word if need be. ' +
  'Repeat nothing, and do not comment on this.'

function check(options: FallbackOptions): void {
  checkOptions('fallback', options, {
    ...middlewareRules,
    clients: 'any',
    fallbackOn: 'any',
    timeoutMs: 'ms',
    sticky: ['run', 'none'],
    midStream: ['error', 'restart', 'continue'],
    continuePrompt: 'string?',
    replay: ['safe-only', 'any'],
    clock: 'any',
  })
  const { clients, fallbackOn } = options
  checkClasses('fallback', 'fallbackOn', fallbackOn)
  if (!Array.isArray(clients) || clients.length === 0) {
    throw wrongOption('fallback', 'clients', 'a list of clients that is not empty', clients)
  }
  for (const [index, given] of clients.entries()) {
    const entry = isClient(given) ? { client: given } : given
    const at = `clients.${index}`
    if (typeof entry?.client?.respond !== 'function') {
      throw wrongOption('fallback', at, 'a client, or an object with a `client`', given)
    }
    checkOptions('fallback', { clients: { [index]: entry } }, { clients: { [index]: entryRules } })
  }
}
