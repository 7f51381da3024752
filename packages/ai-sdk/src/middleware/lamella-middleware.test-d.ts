import type { LanguageModelV2 } from '@ai-sdk/provider-v2'
import type { LanguageModelV3, LanguageModelV3Middleware } from '@ai-sdk/provider-v3'
import type { LanguageModelV4, LanguageModelV4Middleware } from '@ai-sdk/provider'
import { agentMiddleware, chatMiddleware } from '@lamella/core'
import { wrapLanguageModel } from 'ai'
import { wrapLanguageModel as wrapLanguageModel6 } from 'ai-v6'
import { expectTypeOf, test } from 'vitest'
import type { AiSdkChatClient } from '../index.ts'
import { aiSdk, lamellaMiddleware } from '../index.ts'

declare const v2: LanguageModelV2
declare const v3: LanguageModelV3
declare const v4: LanguageModelV4

const quiet = chatMiddleware('quiet', async (_, callNext) => callNext())

test('models of every version make a client, names of models do not', () => {
  expectTypeOf(aiSdk(v2)).toEqualTypeOf<AiSdkChatClient>()
  expectTypeOf(aiSdk(v3)).toEqualTypeOf<AiSdkChatClient>()
  expectTypeOf(aiSdk(v4)).toEqualTypeOf<AiSdkChatClient>()
  // @ts-expect-error -- a gateway would resolve it
  aiSdk('openai/gpt-5')
})

test('a list is a middleware of both lines', () => {
  expectTypeOf(lamellaMiddleware<'v3'>([quiet])).toExtend<LanguageModelV3Middleware>()
  expectTypeOf(lamellaMiddleware([quiet])).toExtend<LanguageModelV4Middleware>()
  wrapLanguageModel({ model: v4, middleware: lamellaMiddleware([quiet]) })
  wrapLanguageModel({ model: v3, middleware: [lamellaMiddleware([quiet])] })
  wrapLanguageModel6({ model: v3, middleware: lamellaMiddleware([quiet]) })
  wrapLanguageModel6({ model: v3, middleware: [lamellaMiddleware([quiet])] })
})

test('agent middleware does not fit', () => {
  // @ts-expect-error -- there is no run around the calls
  lamellaMiddleware([agentMiddleware('whole', async (_, callNext) => callNext())])
})
