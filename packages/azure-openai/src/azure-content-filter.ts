import { isObject } from './is-object.ts'

/** How bad a text is, by Azure's scale. */
export type AzureSeverity = 'safe' | 'low' | 'medium' | 'high' | (string & {})

/** A category that is measured. */
export interface AzureSeverityVerdict {
  /** Whether it was blocked, which depends on the deployment's filter. */
  readonly filtered: boolean
  readonly severity: AzureSeverity
}

/** A category that is there or not. */
export interface AzureDetectionVerdict {
  /** Whether it was blocked. What is only annotated is detected and not filtered. */
  readonly filtered: boolean
  readonly detected: boolean
}

/** Code that stands in a public repository. */
export interface AzureCodeVerdict extends AzureDetectionVerdict {
  readonly citation?: { readonly URL?: string; readonly license?: string } | undefined
}

/** Which of one's own blocklists matched. */
export interface AzureBlocklistVerdict {
  readonly filtered: boolean
  readonly details?: readonly { readonly filtered: boolean; readonly id: string }[] | undefined
}

/** The filter itself failed: nothing is known of the text, which was passed on unfiltered. */
export interface AzureFilterError {
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** Verdicts on a prompt or an answer, by Azure's own names. New categories are kept as they come. */
export interface AzureContentFilterResults {
  readonly hate?: AzureSeverityVerdict | undefined
  readonly self_harm?: AzureSeverityVerdict | undefined
  readonly sexual?: AzureSeverityVerdict | undefined
  readonly violence?: AzureSeverityVerdict | undefined
  readonly jailbreak?: AzureDetectionVerdict | undefined
  readonly indirect_attack?: AzureDetectionVerdict | undefined
  readonly profanity?: AzureDetectionVerdict | undefined
  readonly protected_material_text?: AzureDetectionVerdict | undefined
  readonly protected_material_code?: AzureCodeVerdict | undefined
  readonly custom_blocklists?: AzureBlocklistVerdict | undefined
  readonly error?: AzureFilterError | undefined
}

/** What Azure's content filter found, the worst of all that it looked at. */
export interface AzureContentFilter {
  /** Whether anything was blocked. */
  readonly filtered: boolean
  readonly prompt?: AzureContentFilterResults | undefined
  readonly completion?: AzureContentFilterResults | undefined
}

/**
 * The verdict that a response has in `metadata.contentFilter` or a `ProviderError` in
 * `details.contentFilter`; nothing where Azure gave none.
 */
export function azureContentFilter(source: unknown): AzureContentFilter | undefined {
  if (!isObject(source)) return undefined
  for (const place of [source['metadata'], source['details']]) {
    const verdict = isObject(place) ? place['contentFilter'] : undefined
    if (isObject(verdict) && typeof verdict['filtered'] === 'boolean') {
      return verdict as unknown as AzureContentFilter
    }
  }
  return undefined
}
