export { AzureOpenAIChatClient } from './fetch/azure-openai-chat-client.ts'
export { azureContentFilter } from './answers/azure-content-filter.ts'
export type {
  AzureBlocklistVerdict,
  AzureCodeVerdict,
  AzureContentFilter,
  AzureContentFilterResults,
  AzureDetectionVerdict,
  AzureFilterError,
  AzureSeverity,
  AzureSeverityVerdict,
} from './answers/azure-content-filter.ts'
export type {
  AzureCosmosDBDataSource,
  AzureDataSource,
  AzureDataSourceAuthentication,
  AzureElasticsearchDataSource,
  AzureFieldsMapping,
  AzureMongoDBDataSource,
  AzurePineconeDataSource,
  AzureSearchDataSource,
  AzureVectorizationSource,
} from './connection/azure-data-source.ts'
export type { AzureCitation, AzureDataContext } from './answers/azure-data-context.ts'
export type {
  AzureConnectionSettings,
  AzureOpenAIApi,
  AzureTokenCredential,
} from './connection/azure-openai-client-options.ts'
export type { AzureOpenAIClientOptions } from './fetch/azure-openai-chat-client.ts'
export type { AzureOpenAIProviderOptions } from './connection/azure-openai-provider-options.ts'
