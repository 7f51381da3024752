import { expect, test } from 'vitest'
import type { ChatOptions } from './chat-options.ts'
import { checkChatOptions, declareChatOption } from './chat-option-names.ts'

test.each([
  [{ maxTokens: 5 }, 'options: unknown option `maxTokens`; did you mean `maxOutputTokens`?'],
  [
    { frequencyPenalty: 1 },
    'options: unknown option `frequencyPenalty`; the options are `model`, `temperature`, ',
  ],
  [JSON.parse('{"__proto__":1}'), 'options: unknown option `__proto__`; the options'],
  [{ responseFormat: { '~standard': {} } }, "`responseFormat` must be 'text', 'json' or"],
  [
    { reasoning: { budgetTokens: 9 } },
    'options: unknown option `reasoning.budgetTokens`; the options are `reasoning.effort`, ',
  ],
])('%j is refused', (options, message) => {
  expect(() => checkChatOptions(options as ChatOptions)).toThrow(
    new RegExp(`^${message}`.replaceAll('?', '\\?')),
  )
})

test('options of the contract pass, and those that are undefined', () => {
  const options = { model: 'm', reasoning: { effort: 'low' }, mistaken: undefined }

  expect(() => checkChatOptions(options)).not.toThrow()
})

test('an option that a middleware declared passes', () => {
  const options: object = { ofMiddleware: 'no-store' }
  expect(() => checkChatOptions(options)).toThrow(/unknown option `ofMiddleware`/)

  declareChatOption('ofMiddleware')

  expect(() => checkChatOptions(options)).not.toThrow()
})
