import type {
  AzureCosmosDBChatExtensionConfiguration,
  AzureSearchChatExtensionConfiguration,
  ContentFilterResultDetailsForPromptOutput,
  ContentFilterResultsForChoiceOutput,
} from '@azure/openai/types'
import type { ChatOptions } from '@lamella/core'
import { chatMiddleware } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import type {
  AzureContentFilterResults,
  AzureCosmosDBDataSource,
  AzureDataSource,
  AzureOpenAIProviderOptions,
  AzureSearchDataSource,
} from '../index.ts'
import { AzureOpenAIChatClient, azureContentFilter } from '../index.ts'

type Categories = Omit<AzureContentFilterResults, 'protected_material_code' | 'error'>

test('data sources are those of Azure’s own package', () => {
  expectTypeOf<AzureSearchDataSource>().toExtend<AzureSearchChatExtensionConfiguration>()
  expectTypeOf<AzureCosmosDBDataSource>().toExtend<AzureCosmosDBChatExtensionConfiguration>()
})

test('what Azure’s own package knows of verdicts is known here', () => {
  type Prompt = Omit<ContentFilterResultDetailsForPromptOutput, 'error'>
  type Choice = Omit<ContentFilterResultsForChoiceOutput, 'error' | 'protected_material_code'>

  expectTypeOf<Prompt>().toExtend<Categories>()
  expectTypeOf<Choice>().toExtend<Categories>()
  expectTypeOf<keyof ContentFilterResultDetailsForPromptOutput>().toExtend<
    keyof AzureContentFilterResults
  >()
  expectTypeOf<keyof ContentFilterResultsForChoiceOutput>().toExtend<
    keyof AzureContentFilterResults
  >()
})

test('a data source that lacks its index does not compile', () => {
  const authentication = { type: 'system_assigned_managed_identity' } as const
  const parameters = { endpoint: 'https://name.search.windows.net', authentication }
  // @ts-expect-error: `index_name` is missing
  const source: AzureDataSource = { type: 'azure_search', parameters }

  expectTypeOf(source).toExtend<object>()
})

test('options of the client and of a call', () => {
  const middleware = chatMiddleware('middleware', async (_context, callNext) => callNext())
  const credential = { getToken: async () => ({ token: 't', expiresOnTimestamp: 0 }) }
  const own: AzureOpenAIProviderOptions = { dataSources: [], serviceTier: 'flex' }

  expectTypeOf(AzureOpenAIChatClient).toBeConstructibleWith({
    middleware: [middleware],
    credential,
  })
  expectTypeOf({ providerOptions: { 'azure-openai': own } }).toExtend<ChatOptions>()
  expectTypeOf(azureContentFilter({})?.prompt?.hate?.severity).toExtend<string | undefined>()
})
