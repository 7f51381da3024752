import type { ChatClientOptions } from '@lamella/core/authoring'
import type { Fetch } from '@lamella/transport'
import type { MaxTokensField } from '@lamella/openai/fetch'
import type { AzureDataSource } from './azure-data-source.ts'

/** API that the client uses. */
export type AzureOpenAIApi = 'chat' | 'responses'

/** A `TokenCredential` of `@azure/identity`. */
export interface AzureTokenCredential {
  /** Returns a token for these scopes, or null. */
  getToken(scopes: string | string[]): Promise<{
    /** Bearer token. */
    readonly token: string
  } | null>
}

/** Options of `AzureOpenAIChatClient`, except the one for your own client. */
export interface AzureConnectionSettings<DataSource = AzureDataSource> extends ChatClientOptions {
  /** Chat Completions or the Responses API. @default 'chat' */
  readonly api?: AzureOpenAIApi | undefined
  /**
   * The resource, such as `https://name.openai.azure.com`, or a gateway in front of it.
   * @default the variable `AZURE_OPENAI_ENDPOINT`
   */
  readonly endpoint?: string | undefined
  /** The resource's key. @default the variable `AZURE_OPENAI_API_KEY`, if there is no token either */
  readonly apiKey?: string | undefined
  /**
   * Returns a Microsoft Entra token. It is called before each request, so it should cache tokens.
   */
  readonly azureADTokenProvider?: (() => Promise<string>) | undefined
  /** A credential of `@azure/identity`, instead of `azureADTokenProvider`. */
  readonly credential?: AzureTokenCredential | undefined
  /**
   * Scope of the token that `credential` requests.
   * @default 'https://cognitiveservices.azure.com/.default'
   */
  readonly credentialScope?: string | undefined
  /**
   * Deployment of calls that name no other.
   * @default `model`, else the variable `AZURE_OPENAI_DEPLOYMENT` or `AZURE_OPENAI_DEPLOYMENT_NAME`
   */
  readonly deployment?: string | undefined
  /**
   * A date such as `2025-04-01-preview`, or `v1` for the API without versions.
   * @default the variable `OPENAI_API_VERSION`, else `2025-04-01-preview`
   */
  readonly apiVersion?: string | undefined
  /** The model behind the deployment, if the deployment has another name. @default `deployment` */
  readonly model?: string | undefined
  /**
   * Data sources that the model may search, with Chat Completions only. A call may have its own.
   * @default none
   */
  readonly dataSources?: readonly DataSource[] | undefined
  /**
   * Field for `maxOutputTokens`, with Chat Completions only.
   * @default 'max_completion_tokens', with data sources 'max_tokens'
   */
  readonly maxTokensField?: MaxTokensField | undefined
  /**
   * Requests usage at the end of a stream, with Chat Completions only.
   * @default true; with data
   * sources false, because Azure rejects both in one request
   */
  readonly streamUsage?: boolean | undefined
  /**
   * Milliseconds from the request to the first update of a stream, retries of the transport included.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /** Milliseconds without any data of an answer. @default 300_000 */
  readonly idleTimeoutMs?: number | undefined
  /** Milliseconds until the headers of an answer, for each attempt. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: Fetch | undefined
  /** Headers of every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
}
