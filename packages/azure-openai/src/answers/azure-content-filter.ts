import { isObject } from '@lamella/core/authoring'

/** Severity of a text on Azure's scale. */
export type AzureSeverity = 'safe' | 'low' | 'medium' | 'high' | (string & {})

/** A category with a severity. */
export interface AzureSeverityVerdict {
  /** True if it was blocked, which depends on the deployment's filter. */
  readonly filtered: boolean
  /** Severity on Azure's scale. */
  readonly severity: AzureSeverity
}

/** A category that is detected or not. */
export interface AzureDetectionVerdict {
  /** True if it was blocked. Content that is only annotated is detected and not filtered. */
  readonly filtered: boolean
  /** True if it was found. */
  readonly detected: boolean
}

/** Code from a public repository. */
export interface AzureCodeVerdict extends AzureDetectionVerdict {
  /** Place where the code is published. */
  readonly citation?: {
    /** Address of the code. */
    readonly URL?: string
    /** License of the code. */
    readonly license?: string
  }
}

/** Matches of your own blocklists. */
export interface AzureBlocklistVerdict {
  /** True if a blocklist matched and the text was blocked. */
  readonly filtered: boolean
  /** Verdict of each blocklist. */
  readonly details?: readonly {
    /** True if a blocklist matched and the text was blocked. */
    readonly filtered: boolean
    /** Name of the blocklist. */
    readonly id: string
  }[]
}

/** Failure of the filter itself: the text passed unchecked. */
export interface AzureFilterError {
  /** Code of the failure. */
  readonly code?: string
  /** Message of the failure. */
  readonly message?: string
}

/** Verdicts on a prompt or an answer, by Azure's own names. New categories are kept unchanged. */
export interface AzureContentFilterResults {
  /** Hate and unfairness. */
  readonly hate?: AzureSeverityVerdict
  /** Self-harm. */
  readonly self_harm?: AzureSeverityVerdict
  /** Sexual content. */
  readonly sexual?: AzureSeverityVerdict
  /** Violence. */
  readonly violence?: AzureSeverityVerdict
  /** An attempt of the user to override the instructions. */
  readonly jailbreak?: AzureDetectionVerdict
  /** Instructions in documents, meant for the model. */
  readonly indirect_attack?: AzureDetectionVerdict
  /** Profanity. */
  readonly profanity?: AzureDetectionVerdict
  /** Text that is known to be protected. */
  readonly protected_material_text?: AzureDetectionVerdict
  /** Code from a public repository. */
  readonly protected_material_code?: AzureCodeVerdict
  /** Your own blocklists. */
  readonly custom_blocklists?: AzureBlocklistVerdict
  /** Failure of the filter itself. */
  readonly error?: AzureFilterError
}

/** Verdict of Azure's content filter: the worst of everything that it judged. */
export interface AzureContentFilter {
  /** True if anything was blocked. */
  readonly filtered: boolean
  /** Verdict on the prompt. */
  readonly prompt?: AzureContentFilterResults
  /** Verdict on the answer. */
  readonly completion?: AzureContentFilterResults
}

/**
 * Returns the verdict in `metadata.contentFilter` of a response or in `details.contentFilter` of a
 * `ProviderError`; undefined if there is none.
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
