import type {
  AzureCosmosDBChatExtensionConfiguration,
  AzureSearchChatExtensionConfiguration,
  ContentFilterResultDetailsForPromptOutput,
  ContentFilterResultsForChoiceOutput,
} from '@azure/openai/types'
import type { ChatOptions } from '@lamella/core'
import { chatMiddleware } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import type * as own from '../fetch.ts'
import type * as sdk from '../index.ts'
import { AzureOpenAIChatClient, azureContentFilter } from '../index.ts'

const authentication = { type: 'system_assigned_managed_identity' } as const

test('a data source typed by Azure’s own package is one of the entry with the SDK', () => {
  expectTypeOf<AzureSearchChatExtensionConfiguration>().toExtend<sdk.AzureSearchDataSource>()
  expectTypeOf<AzureCosmosDBChatExtensionConfiguration>().toExtend<sdk.AzureCosmosDBDataSource>()
  expectTypeOf(AzureOpenAIChatClient).toBeConstructibleWith({
    dataSources: [] as AzureSearchChatExtensionConfiguration[],
  })
})

test('a data source of `/fetch` is one of the entry with the SDK, and one of Azure’s own package', () => {
  expectTypeOf<own.AzureDataSource>().toExtend<sdk.AzureDataSource>()
  expectTypeOf<own.AzureOpenAIProviderOptions>().toExtend<sdk.AzureOpenAIProviderOptions>()
  expectTypeOf<own.AzureSearchDataSource>().toExtend<AzureSearchChatExtensionConfiguration>()
  expectTypeOf<own.AzureCosmosDBDataSource>().toExtend<AzureCosmosDBChatExtensionConfiguration>()
})

test('both entries have the same verdicts and documents', () => {
  expectTypeOf<own.AzureContentFilter>().toExtend<sdk.AzureContentFilter>()
  expectTypeOf<sdk.AzureContentFilter>().toExtend<own.AzureContentFilter>()
  expectTypeOf<own.AzureDataContext>().toExtend<sdk.AzureDataContext>()
  expectTypeOf<sdk.AzureDataContext>().toExtend<own.AzureDataContext>()
  expectTypeOf<keyof own.AzureContentFilterResults>().toEqualTypeOf<
    keyof sdk.AzureContentFilterResults
  >()
  expectTypeOf<keyof own.AzureCitation>().toEqualTypeOf<keyof sdk.AzureCitation>()
})

test('a verdict fits where Azure’s own package wants one', () => {
  type Prompt = Omit<ContentFilterResultDetailsForPromptOutput, 'error'>
  type Choice = Omit<ContentFilterResultsForChoiceOutput, 'error' | 'protected_material_code'>

  expectTypeOf<sdk.AzureContentFilterResults>().toExtend<Prompt>()
  expectTypeOf<sdk.AzureContentFilterResults>().toExtend<Choice>()
})

test('a data source that Azure’s own package does not know is compiled as one of ours', () => {
  const token = { type: 'access_token', access_token: 'token' } as const
  const parameters = { endpoint: 'https://name.search.windows.net', index_name: 'handbook' }
  const source: sdk.AzureDataSource = {
    type: 'azure_search',
    parameters: { ...parameters, authentication: token, include_contexts: ['citations'] },
  }

  expectTypeOf(source).toExtend<own.AzureDataSource>()
})

test('a data source that lacks its index does not compile', () => {
  const parameters = { endpoint: 'https://name.search.windows.net', authentication }
  // @ts-expect-error: `index_name` is missing
  const source: sdk.AzureDataSource = { type: 'azure_search', parameters }
  // @ts-expect-error: `index_name` is missing
  const same: own.AzureDataSource = { type: 'azure_search', parameters }

  expectTypeOf([source, same]).toExtend<object>()
})

test('options of the client and of a call', () => {
  const middleware = chatMiddleware('middleware', async (_context, callNext) => callNext())
  const credential = { getToken: async () => ({ token: 't', expiresOnTimestamp: 0 }) }
  const options: sdk.AzureOpenAIProviderOptions = { dataSources: [], serviceTier: 'flex' }

  expectTypeOf(AzureOpenAIChatClient).toBeConstructibleWith({
    middleware: [middleware],
    credential,
  })
  expectTypeOf({ providerOptions: { 'azure-openai': options } }).toExtend<ChatOptions>()
  expectTypeOf(azureContentFilter({})?.prompt?.hate?.severity).toExtend<string | undefined>()
})
