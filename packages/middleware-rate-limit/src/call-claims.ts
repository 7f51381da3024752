import type { AgentContext, ChatContext, FunctionInvocationContext, Usage } from '@lamella/core'
import { keyOf } from '@lamella/core/authoring'
import { amountOf, estimateUsage } from './call-amounts.ts'
import { isMetered } from './check-rate-limit-options.ts'
import type {
  ContextOf,
  RateLimit,
  RateLimitLevel,
  RateLimitOptions,
} from './rate-limit-options.ts'
import type { Claim } from './rate-limit-store.ts'
import { limitStoreOf } from './rate-limit-store.ts'

/** Claim of a call on one limit. */
export interface CallClaim {
  readonly unit: RateLimit['unit']
  readonly claim: Claim
  /** True if the provider may know more about this limit. */
  readonly isAdaptive: boolean
}

/** Makes the function that computes the claims of a call. */
export function claimsOf<Level extends RateLimitLevel>(
  name: string,
  options: RateLimitOptions<Level>,
): (context: ContextOf<Level>) => readonly CallClaim[] {
  const { limits, level = 'chat', outputFactor = 0.5, price } = options
  const store = options.store && limitStoreOf(options.store)
  const { algorithm = store?.kinds[0] ?? 'sliding-window' } = options
  const { adaptive = level === 'chat' && options.key === undefined } = options
  const { key: ownKey = defaultKeys[level] as (context: ContextOf<Level>) => string } = options
  const { estimate = (context) => estimateCall(level, context, outputFactor) } = options
  const hasMetered = limits.some(({ unit }) => isMetered(unit))

  return (context) => {
    const usage = hasMetered ? estimate(context) : {}
    return limits.map(({ unit, limit, windowMs = 0, key = ownKey }, index) => {
      const wanted = amountOf(unit, usage, (tokens) => price?.(tokens, context) ?? 0) ?? 0
      // An unknown amount counts as little, and one above the limit as the whole limit.
      const least = unit === 'cost' ? limit * 1e-6 : 1
      const claim: Claim = {
        key: keyOf('', {}, name, index, unit, key(context)),
        kind: unit === 'concurrency' ? unit : algorithm,
        limit,
        windowMs,
        amount: Math.min(limit, Math.max(least, wanted)),
      }
      return {
        unit,
        claim,
        isAdaptive: adaptive && key === ownKey && unit !== 'concurrency',
      }
    })
  }
}

function estimateCall(
  level: RateLimitLevel,
  context: ContextOf<RateLimitLevel>,
  outputFactor: number,
): Usage {
  const { messages, instructions, options, tools } = context as ChatContext & AgentContext
  const { responseFormat } = options
  const offered = level === 'chat' ? options.tools : tools
  const subject = { messages, instructions, tools: offered, responseFormat }
  return estimateUsage(subject, options.maxOutputTokens, outputFactor)
}

const defaultKeys = {
  agent: (): string => '',
  chat: ({ client, options }: ChatContext): string =>
    `${client.provider}/${options.model ?? client.model ?? ''}`,
  function: ({ function: tool }: FunctionInvocationContext): string => tool.name,
}
