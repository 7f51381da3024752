/** Authentication of Azure at a data source. */
export type AzureDataSourceAuthentication =
  | {
      readonly type: 'api_key'
      /** API key. */
      readonly key: string
    }
  | {
      readonly type: 'access_token'
      /** Access token. */
      readonly access_token: string
    }
  | {
      readonly type: 'connection_string'
      /** Connection string. */
      readonly connection_string: string
    }
  | {
      readonly type: 'encoded_api_key'
      /** Encoded API key. */
      readonly encoded_api_key: string
    }
  | {
      readonly type: 'key_and_key_id'
      /** API key. */
      readonly key: string
      /** Id of the key. */
      readonly key_id: string
    }
  | {
      readonly type: 'username_and_password'
      /** User name. */
      readonly username: string
      /** Password. */
      readonly password: string
    }
  | {
      readonly type: 'system_assigned_managed_identity'
    }
  | {
      readonly type: 'user_assigned_managed_identity'
      /** Resource id of the managed identity. */
      readonly managed_identity_resource_id: string
    }

/** Source of the vectors of a search. */
export type AzureVectorizationSource =
  | {
      readonly type: 'deployment_name'
      /** Deployment of the embedding model. */
      readonly deployment_name: string
      /** Number of dimensions of a vector. @default that of the model */
      readonly dimensions?: number
    }
  | {
      readonly type: 'endpoint'
      /** Address of the service. */
      readonly endpoint: string
      /** Authentication of Azure at the data source. */
      readonly authentication: AzureDataSourceAuthentication
      /** Number of dimensions of a vector. @default that of the model */
      readonly dimensions?: number
    }
  | {
      readonly type: 'model_id'
      /** Id of the embedding model in the index. */
      readonly model_id: string
    }
  | {
      readonly type: 'integrated'
    }

/** Meaning of the fields of an index. */
export interface AzureFieldsMapping {
  /** Field of the title. @default none */
  readonly title_field?: string
  /** Field of the address. @default none */
  readonly url_field?: string
  /** Field of the name of the file. @default none */
  readonly filepath_field?: string
  /** Fields of the text. */
  readonly content_fields?: string[]
  /** Text between two content fields. @default a line break */
  readonly content_fields_separator?: string
  /** Fields of the vectors. */
  readonly vector_fields?: string[]
}

interface CommonParameters {
  /** Authentication of Azure at the data source. */
  readonly authentication: AzureDataSourceAuthentication
  /** Number of documents for the model. */
  readonly top_n_documents?: number
  /** Restricts answers to the documents. */
  readonly in_scope?: boolean
  /** Minimum relevance of a document, from 1 to 5. */
  readonly strictness?: number
  /** Maximum number of searches for one question. @default the service decides */
  readonly max_search_queries?: number
  /** Allows answers although a part of the searches failed. */
  readonly allow_partial_result?: boolean
  /** Parts of the context to return. */
  readonly include_contexts?: ('citations' | 'intent' | 'all_retrieved_documents')[]
}

/** An index of Azure AI Search. */
export interface AzureSearchDataSource {
  readonly type: 'azure_search'
  /** Parameters of the data source. */
  readonly parameters: CommonParameters & {
    /** Address of the service. */
    readonly endpoint: string
    /** Name of the index. */
    readonly index_name: string
    /** Meaning of the fields of the index. */
    readonly fields_mapping?: AzureFieldsMapping
    /** `'simple'`, `'semantic'`, `'vector'`, `'vector_simple_hybrid'` or `'vector_semantic_hybrid'`. */
    readonly query_type?: string
    /** Semantic configuration of the index. @default none */
    readonly semantic_configuration?: string
    /** An OData filter, for example by the permissions of the user. */
    readonly filter?: string
    /** Source of the vectors. */
    readonly embedding_dependency?: AzureVectorizationSource
  }
}

/** A vector index of Azure Cosmos DB for MongoDB vCore. */
export interface AzureCosmosDBDataSource {
  readonly type: 'azure_cosmos_db'
  /** Parameters of the data source. */
  readonly parameters: CommonParameters & {
    /** Name of the database. */
    readonly database_name: string
    /** Name of the container. */
    readonly container_name: string
    /** Name of the index. */
    readonly index_name: string
    /** Meaning of the fields of the index. */
    readonly fields_mapping: AzureFieldsMapping & {
      /** Fields of the text. */
      readonly content_fields: string[]
      /** Fields of the vectors. */
      readonly vector_fields: string[]
    }
    /** Source of the vectors. */
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** An index of Elasticsearch. */
export interface AzureElasticsearchDataSource {
  readonly type: 'elasticsearch'
  /** Parameters of the data source. */
  readonly parameters: CommonParameters & {
    /** Address of the service. */
    readonly endpoint: string
    /** Name of the index. */
    readonly index_name: string
    /** Meaning of the fields of the index. */
    readonly fields_mapping?: AzureFieldsMapping
    /** `'simple'` or `'vector'`. */
    readonly query_type?: string
    /** Source of the vectors. */
    readonly embedding_dependency?: AzureVectorizationSource
  }
}

/** An index of Pinecone. */
export interface AzurePineconeDataSource {
  readonly type: 'pinecone'
  /** Parameters of the data source. */
  readonly parameters: CommonParameters & {
    /** Environment of Pinecone. */
    readonly environment: string
    /** Name of the index. */
    readonly index_name: string
    /** Meaning of the fields of the index. */
    readonly fields_mapping: AzureFieldsMapping & {
      /** Fields of the text. */
      readonly content_fields: string[]
    }
    /** Source of the vectors. */
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** A vector index of MongoDB Atlas. */
export interface AzureMongoDBDataSource {
  readonly type: 'mongo_db'
  /** Parameters of the data source. */
  readonly parameters: CommonParameters & {
    /** Address of the service. */
    readonly endpoint: string
    /** Name of the application. */
    readonly app_name: string
    /** Name of the database. */
    readonly database_name: string
    /** Name of the collection. */
    readonly collection_name: string
    /** Name of the index. */
    readonly index_name: string
    /** Meaning of the fields of the index. */
    readonly fields_mapping: AzureFieldsMapping & {
      /** Fields of the text. */
      readonly content_fields: string[]
      /** Fields of the vectors. */
      readonly vector_fields: string[]
    }
    /** Source of the vectors. */
    readonly embedding_dependency: AzureVectorizationSource
  }
}

/** An entry of `data_sources`, in Azure's format. */
export type AzureDataSource =
  | AzureSearchDataSource
  | AzureCosmosDBDataSource
  | AzureElasticsearchDataSource
  | AzurePineconeDataSource
  | AzureMongoDBDataSource
