import type {
  AzureChatExtensionDataSourceResponseCitationOutput,
  AzureChatExtensionsMessageContextOutput,
  AzureCosmosDBChatExtensionConfiguration,
  AzureSearchChatExtensionConfiguration,
  ContentFilterDetectionResultOutput,
  ContentFilterResultDetailsForPromptOutput,
  ContentFilterResultOutput,
  ContentFilterResultsForChoiceOutput,
} from '@azure/openai/types'
import type { OpenAIProviderOptions } from '@lamella/openai'
import type * as filter from './answers/azure-content-filter.ts'
import { azureContentFilter as readContentFilter } from './answers/azure-content-filter.ts'
import type * as context from './answers/azure-data-context.ts'
import type * as source from './connection/azure-data-source.ts'

// Our own types add what Azure sends or takes and `@azure/openai` does not know. What an application
// passes in may be of either, so it is a union; what it receives fits both, so it is an intersection.

/** An index of Azure AI Search. */
export type AzureSearchDataSource =
  | AzureSearchChatExtensionConfiguration
  | source.AzureSearchDataSource

/** A vector index of Azure Cosmos DB for MongoDB vCore. */
export type AzureCosmosDBDataSource =
  | AzureCosmosDBChatExtensionConfiguration
  | source.AzureCosmosDBDataSource

/** An entry of `data_sources`, in Azure's format. */
export type AzureDataSource =
  | AzureSearchDataSource
  | AzureCosmosDBDataSource
  | source.AzureElasticsearchDataSource
  | source.AzurePineconeDataSource
  | source.AzureMongoDBDataSource

/**
 * Options of a call, passed as `providerOptions: { 'azure-openai': { … } }`: those of OpenAI, and
 * data sources.
 */
export type AzureOpenAIProviderOptions = OpenAIProviderOptions & {
  /** Data sources of this call, which replace the client's. */
  readonly dataSources?: readonly AzureDataSource[] | undefined
}

/** A category with a severity. */
export type AzureSeverityVerdict = filter.AzureSeverityVerdict & Readonly<ContentFilterResultOutput>

/** A category that is detected or not. */
export type AzureDetectionVerdict = filter.AzureDetectionVerdict &
  Readonly<ContentFilterDetectionResultOutput>

/** Verdicts on a prompt or an answer, by Azure's own names. New categories are kept unchanged. */
export type AzureContentFilterResults = filter.AzureContentFilterResults &
  Readonly<Omit<ContentFilterResultDetailsForPromptOutput, 'error'>> &
  Readonly<Omit<ContentFilterResultsForChoiceOutput, 'error' | 'protected_material_code'>>

/** Verdict of Azure's content filter: the worst of everything that it judged. */
export interface AzureContentFilter extends filter.AzureContentFilter {
  /** Verdict on the prompt. */
  readonly prompt?: AzureContentFilterResults
  /** Verdict on the answer. */
  readonly completion?: AzureContentFilterResults
}

/** A document that the model received, in Azure's format. */
export type AzureCitation = context.AzureCitation & {
  readonly [Field in keyof AzureChatExtensionDataSourceResponseCitationOutput]:
    | AzureChatExtensionDataSourceResponseCitationOutput[Field]
    | null
}

/** Documents found in the data sources, in `response.metadata.dataContext`. */
export type AzureDataContext = Omit<context.AzureDataContext, 'citations'> &
  Readonly<Omit<AzureChatExtensionsMessageContextOutput, 'citations'>> & {
    /** `[doc1]` in the answer is the first of them. */
    readonly citations?: readonly AzureCitation[]
  }

/**
 * Returns the verdict in `metadata.contentFilter` of a response or in `details.contentFilter` of a
 * `ProviderError`; undefined if there is none.
 */
export function azureContentFilter(source: unknown): AzureContentFilter | undefined {
  return readContentFilter(source)
}
