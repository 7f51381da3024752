import { checkNames, checkValue } from '../base/check-options.ts'
import { processWide } from '../base/process-wide.ts'
import type { ChatOptions } from './chat-options.ts'

/** Options of model calls that core declares. */
export const chatOptionNames: readonly (keyof ChatOptions)[] = [
  'model',
  'temperature',
  'topP',
  'maxOutputTokens',
  'stop',
  'seed',
  'tools',
  'toolChoice',
  'allowParallelToolCalls',
  'responseFormat',
  'reasoning',
  'metadata',
  'user',
  'transportRetries',
  'providerOptions',
]

/** Names that middleware declared. */
const declared = /* @__PURE__ */ processWide('chat-option-names', () => new Set<string>())

/**
 * Declares an option of model calls that a middleware reads, so that no client takes it for a mistake.
 * Call it where the middleware is made, beside the declaration of its type in `ChatOptions`.
 */
export function declareChatOption(name: string): void {
  declared.add(name)
}

/**
 * Checks the options of a model call. A client calls it before it sends anything.
 * @throws TypeError for an option that is neither one of `ChatOptions` nor declared by a middleware
 */
export function checkChatOptions(options: ChatOptions): void {
  checkNames('options', options, [...chatOptionNames, ...declared])
  checkNames('options', options.reasoning, ['effort', 'summary'], {}, 'reasoning.')
  const { responseFormat: format = 'text' } = options
  const isFormat = typeof format === 'object' ? 'schema' in format : /^(?:text|json)$/.test(format)
  checkValue(isFormat, '`responseFormat`', "be 'text', 'json' or { schema }", format, 'string')
}
