import type { ChatOptions } from '@lamella/core'
import { chatMiddleware, functionMiddleware } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import type { OpenAIProviderOptions } from '../index.ts'
import { OpenAIChatClient } from '../index.ts'

test('provider options fit the options of a call, as a variable and in place', () => {
  const openai: OpenAIProviderOptions = { serviceTier: 'flex', store: false }

  expectTypeOf({ providerOptions: { openai } }).toExtend<ChatOptions>()
  expectTypeOf({ verbosity: 'low', extraBody: { n: 1 } }).toExtend<OpenAIProviderOptions>()
})

test('a misspelt option does not compile', () => {
  // @ts-expect-error: it is called `serviceTier`
  const options: OpenAIProviderOptions = { servicetier: 'flex' }

  expectTypeOf(options).toExtend<object>()
})

test('a client takes middlewares of its two levels', () => {
  const chat = chatMiddleware('chat', async (_context, callNext) => callNext())
  const calls = functionMiddleware('calls', async (_context, callNext) => callNext())

  expectTypeOf(OpenAIChatClient).toBeConstructibleWith({ middleware: [chat, [calls]] })
  expectTypeOf(OpenAIChatClient).toBeConstructibleWith({ apiKey: async () => 'key' })
})
