import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ModerationScore, Moderator } from './moderator.ts'
import { moderationFailed, overlapping, worstScores } from './moderator.ts'
import type { Credential } from './post-json.ts'
import { addressOf, credentialOf, postJson, record } from './post-json.ts'

/** Options of {@link modelArmor}. */
export interface ModelArmorOptions {
  /** Project of Google Cloud. */
  readonly project: string
  /** Location of the template, such as `europe-west4`. */
  readonly location: string
  /** Id of the template. */
  readonly template: string
  /** Access token for `https://www.googleapis.com/auth/cloud-platform`, or a function that returns one. */
  readonly token: Credential
  /** Filters of the template that apply: those for prompts or for answers. @default 'prompt' */
  readonly source?: 'prompt' | 'response' | undefined
  /** Address of the service. @default that of the location */
  readonly baseURL?: string | undefined
  /**
   * Characters in one input; longer texts are judged in pieces, and the worst counts.
   * @default 8000
   */
  readonly maxChars?: number | undefined
  /** Sends requests. @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Creates a moderator on a template of Google Cloud's Model Armor. Categories are the names of its filters:
 * `rai/dangerous` and the like, `pi_and_jailbreak`, `malicious_uris`, `csam`, `sdp`.
 * @see https://cloud.google.com/security-command-center/docs/sanitize-prompts-responses
 */
export function modelArmor(options: ModelArmorOptions): Moderator {
  const name = 'modelArmor'
  checkOptions(name, options, {
    project: 'string',
    location: 'string',
    template: 'string',
    token: 'any',
    source: ['prompt', 'response'],
    baseURL: 'string?',
    maxChars: 1,
    fetch: 'function?',
  })
  const { project, location, template, token, source = 'prompt', maxChars = 8000 } = options
  const { baseURL = `https://modelarmor.${location}.rep.googleapis.com` } = options
  const { fetch: send = globalThis.fetch } = options
  if (!token) throw wrongOption(name, 'token', 'a token, or a function', undefined)
  const parts = { projects: project, locations: location, templates: template }
  const path = Object.entries(parts).map(([kind, id]) => `${kind}/${encodeURIComponent(id)}`)
  const method = source === 'prompt' ? 'sanitizeUserPrompt' : 'sanitizeModelResponse'
  const field = source === 'prompt' ? 'userPromptData' : 'modelResponseData'
  const url = addressOf(baseURL, `v1/${path.join('/')}:${method}`)

  const ask = async (
    text: string,
    signal: AbortSignal,
  ): Promise<Record<string, ModerationScore>> => {
    const headers = { authorization: `Bearer ${await credentialOf(token)}` }
    return scoresOf(name, await postJson(name, send, url, headers, { [field]: { text } }, signal))
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
  const {
    filterMatchState: state,
    invocationResult: result,
    filterResults,
  } = record(record(answer)['sanitizationResult'])
  if (state !== 'MATCH_FOUND' && state !== 'NO_MATCH_FOUND') {
    throw moderationFailed(name, 'the answer has no `filterMatchState`')
  }
  // A filter that failed has judged nothing.
  if (result !== undefined && result !== 'SUCCESS') {
    throw moderationFailed(name, 'not every filter has answered')
  }
  const found: Record<string, ModerationScore> = {}
  for (const [filter, wrapped] of Object.entries(record(filterResults))) {
    const [inner] = Object.values(record(wrapped))
    const types = Object.entries(record(record(inner)['raiFilterTypeResults']))
    for (const [type, one] of types) found[`${filter}/${type}`] = scoreOf(one)
    if (types.length === 0) found[filter] = scoreOf(record(inner)['inspectResult'] ?? inner)
  }
  const isNamed = Object.values(found).some(({ flagged }) => flagged)
  return state === 'MATCH_FOUND' && !isNamed
    ? { ...found, flagged: { flagged: true, score: 1 } }
    : found
}

function scoreOf(result: unknown): ModerationScore {
  const { matchState, confidenceLevel } = record(result)
  const flagged = matchState === 'MATCH_FOUND'
  return { flagged, score: levels[String(confidenceLevel)] ?? (flagged ? 1 : 0) }
}

const levels: Readonly<Record<string, number>> = {
  LOW_AND_ABOVE: 0.33,
  MEDIUM_AND_ABOVE: 0.67,
  HIGH: 1,
}
