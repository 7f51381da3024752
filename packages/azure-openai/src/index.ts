export { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'
export { azureContentFilter } from './azure-extensions.ts'
export type {
  AzureCitation,
  AzureContentFilter,
  AzureContentFilterResults,
  AzureCosmosDBDataSource,
  AzureDataContext,
  AzureDataSource,
  AzureDetectionVerdict,
  AzureOpenAIProviderOptions,
  AzureSearchDataSource,
  AzureSeverityVerdict,
} from './azure-extensions.ts'
export type {
  AzureBlocklistVerdict,
  AzureCodeVerdict,
  AzureFilterError,
  AzureSeverity,
} from './answers/azure-content-filter.ts'
export type {
  AzureDataSourceAuthentication,
  AzureElasticsearchDataSource,
  AzureFieldsMapping,
  AzureMongoDBDataSource,
  AzurePineconeDataSource,
  AzureVectorizationSource,
} from './connection/azure-data-source.ts'
export type {
  AzureConnectionSettings,
  AzureOpenAIApi,
  AzureTokenCredential,
} from './connection/azure-openai-client-options.ts'
export type { AzureOpenAIClientOptions } from './sdk-sender.ts'
