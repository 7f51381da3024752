import type { ChatOptions, ChatResponse } from '@lamella/core'
import { isJson } from '@lamella/core/authoring'
import { isSampled } from './request-key.ts'

/**
 * Calls and answers that are cached only if allowed.
 *
 * - `sampled`: calls with a `temperature` above 0 and no `seed`, which ask for variety
 * - `hosted-tools`: calls that offer hosted tools, which look at the world, and their answers
 * - `stateful`: calls in a conversation that the provider stores
 * - `truncated`: answers cut at the token limit
 * - `changed`: answers as a middleware further out changed them
 */
export type CacheAllowance = 'sampled' | 'hosted-tools' | 'stateful' | 'truncated' | 'changed'

/** All values of `CacheAllowance`. */
export const allowances: readonly CacheAllowance[] = [
  'sampled',
  'hosted-tools',
  'stateful',
  'truncated',
  'changed',
]

/** Returns the reason why a call skips the cache; `undefined` if it may use it. */
export function whyNotAsked(
  options: ChatOptions,
  allowed: ReadonlySet<CacheAllowance>,
): CacheAllowance | undefined {
  if (isSampled(options) && !allowed.has('sampled')) return 'sampled'
  const isHosted = options.tools?.some(({ type }) => type === 'hosted')
  return isHosted && !allowed.has('hosted-tools') ? 'hosted-tools' : undefined
}

/** Returns the reason why an answer is not stored; `undefined` if it may be. */
export function whyNotKept(
  response: ChatResponse,
  allowed: ReadonlySet<CacheAllowance>,
  { responseFormat }: ChatOptions,
): string | undefined {
  const { finishReason, messages, conversationId, value } = response
  const { schemaValid } = response.metadata
  const isCut = finishReason === 'length'
  if (isCut && !allowed.has('truncated')) return 'truncated'
  if (!isCut && finishReason !== 'stop' && finishReason !== 'tool-calls') return 'finish-reason'
  if (conversationId !== undefined && !allowed.has('stateful')) return 'stateful'
  const contents = messages.flatMap((message) => message.contents)
  if (contents.every(({ type }) => type === 'reasoning')) return 'empty'
  for (const { type } of contents) {
    if (type === 'hosted' && !allowed.has('hosted-tools')) return 'hosted-tools'
    if (type !== 'hosted' && !keptContents.has(type)) return 'content'
  }
  // The schema of the call validates a hit, so its value is not stored.
  if (typeof responseFormat === 'object')
    return schemaValid === false ? 'schema-invalid' : undefined
  if (schemaValid !== undefined) return 'unknown-schema'
  return value === undefined || isJson(value) ? undefined : 'value'
}

const keptContents: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'function-call',
  'function-result',
  'data',
  'uri',
])
