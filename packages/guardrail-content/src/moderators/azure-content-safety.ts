import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { imageBase64 } from './image-bytes.ts'
import type { ModerationScore, Moderator } from './moderator.ts'
import { moderationFailed, overlapping, worstScores } from './moderator.ts'
import type { Credential } from './post-json.ts'
import { addressOf, credentialOf, postJson, record } from './post-json.ts'

/** Options of {@link azureContentSafety}. */
export interface AzureContentSafetyOptions {
  /** Endpoint of the resource, such as `https://name.cognitiveservices.azure.com`. */
  readonly endpoint: string
  /** Key of the resource. Required without `token`. */
  readonly apiKey?: Credential | undefined
  /** Returns an Entra token for `https://cognitiveservices.azure.com/.default`, called for each request. */
  readonly token?: (() => string | Promise<string>) | undefined
  /** Version of the API. @default '2024-09-01' */
  readonly apiVersion?: string | undefined
  /**
   * Severity from which a category counts as flagged, from 0 to 6: 2 is low, 4 medium, 6 high.
   * @default 4, as in Azure's own filters
   */
  readonly minSeverity?: number | undefined
  /** Blocklists of the resource. A match is the category `blocklist`. */
  readonly blocklists?: readonly string[] | undefined
  /**
   * Characters in one input; longer texts are judged in pieces, and the worst counts.
   * @default 10000, which is Azure's limit
   */
  readonly maxChars?: number | undefined
  /** Sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * A moderator on Azure AI Content Safety. Categories are `hate`, `self_harm`, `sexual`, `violence` and
 * `blocklist`; a score is the severity divided by 6.
 * @see https://learn.microsoft.com/rest/api/contentsafety/text-operations/analyze-text
 */
export function azureContentSafety(options: AzureContentSafetyOptions): Moderator {
  const name = 'azureContentSafety'
  checkOptions(name, options, {
    endpoint: 'string',
    apiKey: 'any',
    token: 'function?',
    apiVersion: 'any',
    minSeverity: 1,
    blocklists: 'any',
    maxChars: 1,
    fetch: 'function?',
  })
  const { endpoint, apiKey, token, blocklists = [], fetch: send = globalThis.fetch } = options
  const { apiVersion = '2024-09-01', minSeverity = 4, maxChars = 10_000 } = options
  if (!apiKey && !token) throw wrongOption(name, 'apiKey', 'a key, or `token` set', undefined)

  const ask = async (what: 'text' | 'image', body: object, signal: AbortSignal) => {
    const headers = apiKey
      ? { 'ocp-apim-subscription-key': await credentialOf(apiKey) }
      : { authorization: `Bearer ${await credentialOf(token!)}` }
    const path = `contentsafety/${what}:analyze?api-version=${encodeURIComponent(apiVersion)}`
    const url = addressOf(endpoint, path)
    return scoresOf(await postJson(name, send, url, headers, body, signal), minSeverity)
  }

  return {
    name,
    images: true,
    moderate: async (input, signal) => {
      if (input.type === 'image') {
        return ask('image', { image: { content: imageBase64(name, input.image) } }, signal)
      }
      const lists = blocklists.length > 0 && { blocklistNames: blocklists }
      const pieces = overlapping(input.text, maxChars)
      return worstScores(
        await Promise.all(pieces.map((text) => ask('text', { text, ...lists }, signal))),
      )
    },
  }
}

const highestSeverity = 6

function scoresOf(answer: unknown, minSeverity: number): Record<string, ModerationScore> {
  const { categoriesAnalysis: analysis, blocklistsMatch: matches } = record(answer)
  if (!Array.isArray(analysis)) {
    throw moderationFailed('azureContentSafety', 'the answer has no `categoriesAnalysis`')
  }
  const scores = analysis.map((entry) => {
    const { category, severity } = record(entry)
    const found = {
      flagged: Number(severity) >= minSeverity,
      score: Number(severity) / highestSeverity,
    }
    return [nameOf(String(category)), found] as const
  })
  const isListed = Array.isArray(matches) && matches.length > 0
  return {
    ...Object.fromEntries(scores),
    ...(isListed && { blocklist: { flagged: true, score: 1 } }),
  }
}

/** `SelfHarm` as `self_harm`. */
function nameOf(category: string): string {
  return category.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
}
