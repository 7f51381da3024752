import type { ChatClientOptions } from '@lamella/core'
import type { Fetch } from '@lamella/core/transport'
import type { MaxTokensField } from '@lamella/openai/fetch'
import type { AzureDataSource } from './azure-data-source.ts'

/** Which of OpenAI's APIs is spoken. */
export type AzureOpenAIApi = 'chat' | 'responses'

/** A `TokenCredential` of `@azure/identity`. */
export interface AzureTokenCredential {
  /** Returns a token for these scopes, or null. */
  getToken(scopes: string | string[]): Promise<{
    /** Bearer token. */
    readonly token: string
  } | null>
}

/** Options of `AzureOpenAIChatClient`, except that for a client of one's own. */
export interface AzureConnectionSettings extends ChatClientOptions {
  /** Chat Completions or the Responses API. @default 'chat' */
  readonly api?: AzureOpenAIApi | undefined
  /**
   * The resource, such as `https://name.openai.azure.com`, or a gateway before it.
   * @default the variable `AZURE_OPENAI_ENDPOINT`
   */
  readonly endpoint?: string | undefined
  /** The resource's key. @default the variable `AZURE_OPENAI_API_KEY`, if there is no token either */
  readonly apiKey?: string | undefined
  /** Gives out a Microsoft Entra token. It is asked before each request, so it should keep tokens. */
  readonly azureADTokenProvider?: (() => Promise<string>) | undefined
  /** A credential of `@azure/identity`, in place of `azureADTokenProvider`. */
  readonly credential?: AzureTokenCredential | undefined
  /**
   * Scope of the token that `credential` asks for.
   * @default 'https://cognitiveservices.azure.com/.default'
   */
  readonly credentialScope?: string | undefined
  /**
   * The deployment that is called where a call names no other.
   * @default `model`, else the variable `AZURE_OPENAI_DEPLOYMENT` or `AZURE_OPENAI_DEPLOYMENT_NAME`
   */
  readonly deployment?: string | undefined
  /**
   * A date such as `2025-04-01-preview`, or `v1` for the API without versions.
   * @default the variable `OPENAI_API_VERSION`, else `2025-04-01-preview`
   */
  readonly apiVersion?: string | undefined
  /** The model behind the deployment, where its name does not say it. @default `deployment` */
  readonly model?: string | undefined
  /** Data sources that the model may search, with Chat Completions only. A call can bring its own. @default none */
  readonly dataSources?: readonly AzureDataSource[] | undefined
  /**
   * The field that `maxOutputTokens` is sent in. With Chat Completions only.
   * @default 'max_completion_tokens', with data sources 'max_tokens'
   */
  readonly maxTokensField?: MaxTokensField | undefined
  /**
   * Asks for usage at the end of a stream. With Chat Completions only.
   * @default true, with data sources false, as Azure refuses both in one request
   */
  readonly streamUsage?: boolean | undefined
  /**
   * Milliseconds from the request to the first update of a stream, retries of the transport included.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /** Milliseconds without any data while an answer is waited for. @default 300_000 */
  readonly idleTimeoutMs?: number | undefined
  /** Milliseconds until the headers of an answer, for each attempt. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: Fetch | undefined
  /** Headers of every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
}
