import type {
  AgentContext,
  ChatContext,
  ChatResponse,
  FunctionInvocationContext,
  Middleware,
  MiddlewareInput,
  Usage,
} from '@lamella/core'
import { checkOptions, reporter, wrongOption } from '@lamella/core/authoring'
import type { RequestItem } from './request-items.ts'
import { firstChange, requestItems, tokensOf } from './request-items.ts'

/** Data of the event `prompt_cache`: the beginning of a request changed that the provider had cached. No content. */
export interface PromptCacheEvent {
  /** Middleware that changed it. Undefined if the conversation, its instructions or its tools changed outside. */
  readonly middleware: string | undefined
  /** Kind of the first part that changed. */
  readonly changed: RequestItem['kind']
  /** Number of the first message that changed, from 0; missing for tools and instructions. */
  readonly message?: number | undefined
  /** Provider of the call. */
  readonly provider: string
  /** Model of the call. */
  readonly model: string | undefined
  /** Input tokens that would have been read from the cache. */
  readonly lostTokens: number
  /** Difference to their price in the cache, in US dollars; missing without a price. */
  readonly costUsd?: number | undefined
}

/** Options of `promptCacheDoctor`. */
export interface PromptCacheDoctorOptions {
  /**
   * Source of prices, such as `models` of `@lamella/models`.
   * @default none: events have no cost
   */
  readonly prices?:
    | {
        /** Returns the cost of a call in US dollars; `undefined` if the model has no price. */
        cost(
          usage: Usage,
          model: { provider: string; model: string | undefined },
        ): number | undefined
      }
    | undefined
  /**
   * Milliseconds for which the provider keeps what it cached. A later call loses nothing.
   * @default 300_000
   */
  readonly keptMs?: number | undefined
  /** Called with every event. @default none */
  readonly onEvent?: ((event: PromptCacheEvent) => void) | undefined
}

/** Conversations that are remembered. */
const maxConversations = 1_000

/** One call of a conversation: its request at each stage, and what the provider reported. */
interface Call {
  /** Requests by stage: as the first middleware gets it, then as each passes it on. */
  readonly stages: (readonly RequestItem[])[]
  at: number
  inputTokens: number
  /** True if the provider has ever said that it caches this conversation. */
  isCached: boolean
}

/**
 * Watches the model calls of a list of middleware, and tells which of them changed the beginning of a request that the
 * provider had cached, and what that cost. Use the returned list instead of the plain one. Requests are not changed.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { promptCacheDoctor } from '@lamella/middleware-cache'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = promptCacheDoctor([], { onEvent: (event) => console.log(event) })
 * const agent = new Agent({ client: scriptedClient(['Hello.']), middleware })
 * await agent.run('Hi')
 * ```
 */
export function promptCacheDoctor(
  middlewares: MiddlewareInput,
  options: PromptCacheDoctorOptions = {},
): readonly Middleware[] {
  checkOptions('promptCacheDoctor', options, {
    prices: 'any',
    keptMs: 1,
    onEvent: 'function?',
  })
  const { prices, keptMs = 300_000 } = options
  if (prices !== undefined && typeof prices?.cost !== 'function') {
    throw wrongOption('promptCacheDoctor', 'prices', 'an object with the method cost', prices)
  }
  const report = reporter('prompt_cache', options.onEvent)
  const conversations = new Map<string, Call>()
  /** The call in progress, by the metadata that all middleware of a call shares. */
  const current = new WeakMap<object, Call>()
  const flat = flatten(middlewares)
  const chats = flat.filter(({ level }) => level === 'chat')
  const last = chats.length - 1
  let next = 0
  return flat.map((middleware) => {
    if (middleware.level !== 'chat') return middleware
    const stage = next++
    const watchedOne = middleware as AnyMiddleware
    const watched: AnyMiddleware['process'] = (context, callNext) => {
      if (stage === 0)
        current.set(context.metadata, { stages: [], at: 0, inputTokens: 0, isCached: false })
      const call = current.get(context.metadata)!
      if (stage === 0) call.stages[0] = requestItems(context)
      return watchedOne.process(context, () => {
        call.stages[stage + 1] = requestItems(context)
        // The same promise: core handles one that a middleware does not await.
        const inside = callNext()
        if (stage === last)
          inside.then(
            (response) => arrived(context, call, response),
            () => {},
          )
        return inside
      })
    }
    return Object.create(middleware, { process: { value: watched } }) as Middleware
  })

  function arrived(context: ChatContext, call: Call, { usage }: ChatResponse): void {
    const { run, client, options: chat } = context
    const model = chat.model ?? client.model
    const owner = run.session?.id ?? run.id
    const key = JSON.stringify([
      run.tenant,
      run.principal,
      owner,
      client.fingerprint,
      client.provider,
      model,
    ])
    const before = conversations.get(key)
    const cached = usage?.cachedInputTokens ?? 0
    call.at = run.clock.now()
    call.inputTokens = usage?.inputTokens ?? 0
    call.isCached = (before?.isCached ?? false) || cached > 0 || (usage?.cacheWriteTokens ?? 0) > 0
    conversations.delete(key)
    conversations.set(key, { ...call, stages: [...call.stages] })
    if (conversations.size > maxConversations)
      conversations.delete(conversations.keys().next().value!)
    if (before === undefined || !before.isCached || call.at - before.at > keptMs) return
    const [earlier, later] = [before.stages.at(-1)!, call.stages.at(-1)!]
    const place = firstChange(earlier, later)
    if (place < 0) return
    const share = tokensOf(earlier.slice(place)) / Math.max(1, tokensOf(earlier))
    const lostTokens = Math.floor(Math.min(before.inputTokens * share, before.inputTokens - cached))
    if (!(lostTokens > 0)) return
    const stage = call.stages.findIndex(
      (items, at) => firstChange(before.stages[at] ?? [], items) >= 0,
    )
    const { provider } = client
    const whole = prices?.cost({ inputTokens: lostTokens }, { provider, model })
    const read = prices?.cost(
      { inputTokens: lostTokens, cachedInputTokens: lostTokens },
      { provider, model },
    )
    const { kind } = earlier[place]!
    report(run, {
      middleware: chats[stage - 1]?.name,
      changed: kind,
      ...(kind === 'message' && { message: place - 2 }),
      provider,
      model,
      lostTokens,
      ...(whole !== undefined && read !== undefined && { costUsd: whole - read }),
    })
  }
}

/** A middleware of whatever level, as one that runs it sees it. */
type AnyMiddleware = Omit<Middleware, 'process'> & {
  process(
    context: AgentContext & ChatContext & FunctionInvocationContext,
    callNext: () => Promise<ChatResponse>,
  ): unknown
}

function flatten(middlewares: MiddlewareInput): readonly Middleware[] {
  return isList(middlewares) ? middlewares.flatMap(flatten) : [middlewares]
}

function isList(middlewares: MiddlewareInput): middlewares is readonly MiddlewareInput[] {
  return Array.isArray(middlewares)
}
