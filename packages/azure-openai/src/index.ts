export { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'
export { azureContentFilter } from './azure-content-filter.ts'
export type {
  AzureBlocklistVerdict,
  AzureCodeVerdict,
  AzureContentFilter,
  AzureContentFilterResults,
  AzureDetectionVerdict,
  AzureFilterError,
  AzureSeverity,
  AzureSeverityVerdict,
} from './azure-content-filter.ts'
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
} from './azure-data-source.ts'
export type { AzureCitation, AzureDataContext } from './azure-data-context.ts'
export type {
  AzureOpenAIApi,
  AzureOpenAIClientOptions,
  AzureTokenCredential,
} from './azure-openai-client-options.ts'
export type { AzureOpenAIProviderOptions } from './azure-openai-provider-options.ts'
