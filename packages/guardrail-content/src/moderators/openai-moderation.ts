import type { Clock } from '@lamella/core/authoring'
import { checkOptions, systemClock, wrongOption } from '@lamella/core/authoring'
import { batched } from './batched.ts'
import { imageUrl } from './image-bytes.ts'
import type { ModerationScore, Moderator } from './moderator.ts'
import { moderationFailed, overlapping, worstScores } from './moderator.ts'
import type { Credential } from './post-json.ts'
import { addressOf, credentialOf, postJson, record } from './post-json.ts'

/** Options of {@link openaiModeration}. */
export interface OpenAIModerationOptions {
  /** Key, or a function that returns one for each request. */
  readonly apiKey: Credential
  /** Base address of the API. @default 'https://api.openai.com/v1' */
  readonly baseURL?: string | undefined
  /** Moderation model. @default 'omni-moderation-latest' */
  readonly model?: string | undefined
  /**
   * Maximum length of one input in characters. Longer texts are judged in pieces; the worst score counts.
   * @default 10000
   */
  readonly maxChars?: number | undefined
  /**
   * Combines texts of several runs within `maxWaitMs` into one request of at most `maxItems`.
   * @default each text is a request
   */
  readonly batch?:
    | {
        /** Maximum number of texts in one request. @default 32 */
        readonly maxItems?: number
        /** Time in milliseconds that a text waits for others. @default 10 */
        readonly maxWaitMs?: number
      }
    | undefined
  /** Clock for `batch`. @default the machine's */
  readonly clock?: Clock | undefined
  /** Sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Creates a moderator on OpenAI's moderation endpoint, or a compatible one. Categories have OpenAI's names
 * with `_` instead of `-`, such as `self_harm/intent`.
 * @see https://platform.openai.com/docs/api-reference/moderations
 */
export function openaiModeration(options: OpenAIModerationOptions): Moderator {
  const name = 'openaiModeration'
  checkOptions(name, options, {
    apiKey: 'any',
    baseURL: 'any',
    model: 'any',
    maxChars: 1,
    batch: { maxItems: 1, maxWaitMs: 0 },
    clock: 'any',
    fetch: 'function?',
  })
  if (!options.apiKey) throw wrongOption(name, 'apiKey', 'a key, or a function', undefined)
  const {
    apiKey,
    baseURL = 'https://api.openai.com/v1',
    model = 'omni-moderation-latest',
    maxChars = 10_000,
    batch,
    clock = systemClock,
    fetch: send = globalThis.fetch,
  } = options

  const ask = async (inputs: readonly unknown[], signal: AbortSignal) => {
    const authorization = `Bearer ${await credentialOf(apiKey)}`
    const url = addressOf(baseURL, 'moderations')
    const body = { model, input: inputs }
    const answer = await postJson(name, send, url, { authorization }, body, signal)
    const { results } = record(answer)
    if (!Array.isArray(results) || results.length !== inputs.length) {
      throw moderationFailed(name, 'the answer has no result for each input')
    }
    return results.map(scoresOf)
  }
  const askText = batch
    ? batched(ask, { maxItems: batch.maxItems ?? 32, maxWaitMs: batch.maxWaitMs ?? 10, clock })
    : async (text: string, signal: AbortSignal) => (await ask([text], signal))[0]!

  return {
    name,
    images: true,
    moderate: async (input, signal) => {
      if (input.type === 'text') {
        const pieces = overlapping(input.text, maxChars)
        return worstScores(await Promise.all(pieces.map((piece) => askText(piece, signal))))
      }
      const image = { type: 'image_url', image_url: { url: imageUrl(input.image) } }
      return (await ask([image], signal))[0]!
    },
  }
}

function scoresOf(result: unknown): Readonly<Record<string, ModerationScore>> {
  const { categories, category_scores: scores, flagged } = record(result)
  if (typeof flagged !== 'boolean') {
    throw moderationFailed('openaiModeration', 'a result says nothing of `flagged`')
  }
  const known = Object.entries(record(scores)).map(([category, score]) => [
    category.replaceAll('-', '_'),
    { flagged: record(categories)[category] === true, score: Number(score) },
  ])
  const found: Record<string, ModerationScore> = Object.fromEntries(known)
  const isNamed = Object.values(found).some((category) => category.flagged)
  return flagged && !isNamed ? { ...found, flagged: { flagged, score: 1 } } : found
}
