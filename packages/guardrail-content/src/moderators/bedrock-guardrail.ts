import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ModerationScore, Moderator } from './moderator.ts'
import { moderationFailed, overlapping, worstScores } from './moderator.ts'
import type { Credential } from './post-json.ts'
import { addressOf, credentialOf, postJson, record } from './post-json.ts'

/** Options of {@link bedrockGuardrail}. */
export interface BedrockGuardrailOptions {
  /** Id or ARN of the guardrail. */
  readonly guardrail: string
  /** Version of the guardrail. @default 'DRAFT' */
  readonly version?: string | undefined
  /** Region, such as `eu-central-1`. Required without `baseURL`. */
  readonly region?: string | undefined
  /** API key of Amazon Bedrock, or a function that returns one for each request. */
  readonly apiKey: Credential
  /** Address of the runtime. @default that of the region */
  readonly baseURL?: string | undefined
  /** Policies of the guardrail that apply: those for input or for output. @default 'INPUT' */
  readonly source?: 'INPUT' | 'OUTPUT' | undefined
  /**
   * Characters in one input; longer texts are judged in pieces, and the worst counts.
   * @default 20000
   */
  readonly maxChars?: number | undefined
  /** Sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Creates a moderator on a guardrail of Amazon Bedrock, by its `ApplyGuardrail` interface. Categories are
 * `content/violence` and the like, `topic/` with the name of the topic, `word`, `pii/` with the type,
 * `grounding/` with the type. A category is flagged if the guardrail would act.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ApplyGuardrail.html
 */
export function bedrockGuardrail(options: BedrockGuardrailOptions): Moderator {
  const name = 'bedrockGuardrail'
  checkOptions(name, options, {
    guardrail: 'string',
    version: 'string?',
    region: 'string?',
    apiKey: 'any',
    baseURL: 'string?',
    source: ['INPUT', 'OUTPUT'],
    maxChars: 1,
    fetch: 'function?',
  })
  const {
    guardrail,
    version = 'DRAFT',
    region,
    apiKey,
    source = 'INPUT',
    maxChars = 20_000,
  } = options
  const { fetch: send = globalThis.fetch } = options
  if (!apiKey) throw wrongOption(name, 'apiKey', 'a key, or a function', undefined)
  if (region === undefined && options.baseURL === undefined) {
    throw wrongOption(name, 'region', 'a region, or `baseURL` set', undefined)
  }
  const { baseURL = `https://bedrock-runtime.${region}.amazonaws.com` } = options
  const place = [guardrail, version].map(encodeURIComponent)
  const url = addressOf(baseURL, `guardrail/${place[0]}/version/${place[1]}/apply`)

  const ask = async (
    text: string,
    signal: AbortSignal,
  ): Promise<Record<string, ModerationScore>> => {
    const headers = { authorization: `Bearer ${await credentialOf(apiKey)}` }
    const body = { source, content: [{ text: { text } }] }
    return scoresOf(name, await postJson(name, send, url, headers, body, signal))
  }
  return {
    name,
    moderate: async (input, signal) => {
      if (input.type !== 'text') throw moderationFailed(name, 'it reads no images')
      const pieces = overlapping(input.text, maxChars)
      return worstScores(await Promise.all(pieces.map((piece) => ask(piece, signal))))
    },
  }
}

function scoresOf(name: string, answer: unknown): Record<string, ModerationScore> {
  const { action, assessments } = record(answer)
  if (action !== 'NONE' && action !== 'GUARDRAIL_INTERVENED') {
    throw moderationFailed(name, 'the answer has no `action`')
  }
  const found: Record<string, ModerationScore> = {}
  for (const assessment of listOf(assessments)) {
    const {
      topicPolicy,
      contentPolicy,
      wordPolicy,
      sensitiveInformationPolicy: pii,
    } = record(assessment)
    const { contextualGroundingPolicy: grounding } = record(assessment)
    const entries: readonly (readonly [string, unknown])[] = [
      ...named('topic', record(topicPolicy)['topics'], 'name'),
      ...named('content', record(contentPolicy)['filters'], 'type'),
      ...listOf(record(wordPolicy)['customWords']).map((word) => ['word', word] as const),
      ...listOf(record(wordPolicy)['managedWordLists']).map((word) => ['word', word] as const),
      ...named('pii', record(pii)['piiEntities'], 'type'),
      ...named('pii', record(pii)['regexes'], 'name'),
      ...named('grounding', record(grounding)['filters'], 'type'),
    ]
    for (const [category, entry] of entries) {
      const { action: taken, confidence } = record(entry)
      const isFlagged = taken !== undefined && taken !== 'NONE'
      found[category] = {
        flagged: isFlagged,
        score: confidences[String(confidence)] ?? (isFlagged ? 1 : 0),
      }
    }
  }
  const isNamed = Object.values(found).some(({ flagged }) => flagged)
  const isFlagged = action === 'GUARDRAIL_INTERVENED' && !isNamed
  return isFlagged ? { ...found, flagged: { flagged: true, score: 1 } } : found
}

function named(group: string, list: unknown, field: string): (readonly [string, unknown])[] {
  return listOf(list).map((entry) => {
    const given = record(entry)[field]
    const name = (typeof given === 'string' ? given : 'other').toLowerCase()
    return [`${group}/${name.replaceAll(/[^\p{L}\p{N}]+/gu, '_')}`, entry] as const
  })
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const confidences: Readonly<Record<string, number>> = { NONE: 0, LOW: 0.33, MEDIUM: 0.67, HIGH: 1 }
