/** How Azure proves itself to a data source. */
export type AzureDataSourceAuthentication =
  | { readonly type: 'api_key'; readonly key: string }
  | { readonly type: 'access_token'; readonly access_token: string }
  | { readonly type: 'connection_string'; readonly connection_string: string }
  | { readonly type: 'encoded_api_key'; readonly encoded_api_key: string }
  | { readonly type: 'key_and_key_id'; readonly key: string; readonly key_id: string }
  | {
      readonly type: 'username_and_password'
      readonly username: string
      readonly password: string
    }
  | { readonly type: 'system_assigned_managed_identity' }
  | {
      readonly type: 'user_assigned_managed_identity'
      readonly managed_identity_resource_id: string
    }

/** What makes the vectors of a search. */
export type AzureVectorizationSource =
  | {
      readonly type: 'deployment_name'
      readonly deployment_name: string
      readonly dimensions?: number
    }
  | {
      readonly type: 'endpoint'
      readonly endpoint: string
      readonly authentication: AzureDataSourceAuthentication
      readonly dimensions?: number
    }
  | { readonly type: 'model_id'; readonly model_id: string }
  | { readonly type: 'integrated' }

/** Which fields of an index hold what. */
export interface AzureFieldsMapping {
  readonly title_field?: string
  readonly url_field?: string
  readonly filepath_field?: string
  readonly content_fields?: string[]
  readonly content_fields_separator?: string
  readonly vector_fields?: string[]
}

interface CommonParameters {
  readonly authentication: AzureDataSourceAuthentication
  /** How many documents are shown to the model. */
  readonly top_n_documents?: number
  /** Whether the model may only answer from the documents. */
  readonly in_scope?: boolean
  /** From 1 to 5: how relevant a document must be. */
  readonly strictness?: number
  readonly max_search_queries?: number
  /** Whether answers are given although a part of the searches failed. */
  readonly allow_partial_result?: boolean
  /** What is returned in the context. */
  readonly include_contexts?: ('citations' | 'intent' | 'all_retrieved_documents')[]
}

/** An index of Azure AI Search. */
export interface AzureSearchDataSource {
  readonly type: 'azure_search'
  readonly parameters: CommonParameters & {
    readonly endpoint: string
    readonly index_name: string
    readonly fields_mapping?: AzureFieldsMapping
    /** `'simple'`, `'semantic'`, `'vector'`, `'vector_simple_hybrid'` or `'vector_semantic_hybrid'`. */
    readonly query_type?: string
    readonly semantic_configuration?: string
    /** An OData filter: who asks may see what. */
    readonly filter?: string
    readonly embedding_dependency?: AzureVectorizationSource
  }
}

/** A vector index of Azure Cosmos DB for MongoDB vCore. */
export interface AzureCosmosDBDataSource {
  readonly type: 'azure_cosmos_db'
  readonly parameters: CommonParameters & {
    readonly database_name: string
    readonly container_name: string
    readonly index_name: string
    readonly fields_mapping: AzureFieldsMapping & {
      readonly content_fields: string[]
      readonly vector_fields: string[]
    }
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** An index of Elasticsearch. */
export interface AzureElasticsearchDataSource {
  readonly type: 'elasticsearch'
  readonly parameters: CommonParameters & {
    readonly endpoint: string
    readonly index_name: string
    readonly fields_mapping?: AzureFieldsMapping
    /** `'simple'` or `'vector'`. */
    readonly query_type?: string
    readonly embedding_dependency?: AzureVectorizationSource
  }
}

/** An index of Pinecone. */
export interface AzurePineconeDataSource {
  readonly type: 'pinecone'
  readonly parameters: CommonParameters & {
    readonly environment: string
    readonly index_name: string
    readonly fields_mapping: AzureFieldsMapping & { readonly content_fields: string[] }
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** A vector index of MongoDB Atlas. */
export interface AzureMongoDBDataSource {
  readonly type: 'mongo_db'
  readonly parameters: CommonParameters & {
    readonly endpoint: string
    readonly app_name: string
    readonly database_name: string
    readonly collection_name: string
    readonly index_name: string
    readonly fields_mapping: AzureFieldsMapping & {
      readonly content_fields: string[]
      readonly vector_fields: string[]
    }
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** An entry of `data_sources`, in Azure's own words. */
export type AzureDataSource =
  | AzureSearchDataSource
  | AzureCosmosDBDataSource
  | AzureElasticsearchDataSource
  | AzurePineconeDataSource
  | AzureMongoDBDataSource
