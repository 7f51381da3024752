import type { ChatOptions } from '@lamella/core'
import { chatMiddleware, functionMiddleware } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import type { AnthropicProviderOptions } from '../index.ts'
import { AnthropicChatClient } from '../index.ts'

test('provider options fit the options of a call, as a variable and in place', () => {
  const anthropic: AnthropicProviderOptions = { effort: 'max', cacheControl: { tools: '1h' } }

  expectTypeOf({ providerOptions: { anthropic } }).toExtend<ChatOptions>()
  expectTypeOf({ betas: ['a'], extraBody: { n: 1 } }).toExtend<AnthropicProviderOptions>()
})

test('a misspelt option or a time that is none does not compile', () => {
  // @ts-expect-error: it is called `serviceTier`
  const misspelt: AnthropicProviderOptions = { servicetier: 'auto' }
  // @ts-expect-error: '5m' or '1h'
  const wrong: AnthropicProviderOptions = { cacheControl: '2h' }

  expectTypeOf([misspelt, wrong]).toExtend<object>()
})

test('a client takes middlewares of its two levels', () => {
  const chat = chatMiddleware('chat', async (_context, callNext) => callNext())
  const calls = functionMiddleware('calls', async (_context, callNext) => callNext())

  expectTypeOf(AnthropicChatClient).toBeConstructibleWith({ middleware: [chat, [calls]] })
  expectTypeOf(AnthropicChatClient).toBeConstructibleWith({ apiKey: async () => 'key' })
})
