import type {
  ChatClient,
  ChatOptions,
  ChatResponse,
  GetResponseOptions,
  RunContext,
} from '@lamella/core'
import { createSecretId, mergeChatOptions } from '@lamella/core/authoring'
import { isProviderError, LamellaError } from '@lamella/core'
import type { JudgeCriterion } from './judge-criterion.ts'
import type { JudgedData } from './judge-request.ts'
import { judgeInstructions, verdictFormat } from './judge-request.ts'
import type { JudgeAnswer } from './parse-verdict.ts'
import { parseVerdict } from './parse-verdict.ts'

/** Options of a judge. */
export interface JudgeOptions {
  /** Client of the judging model. Prefer another model than the judged one. */
  readonly client: ChatClient
  /**
   * Questions about the text, or a rubric in your own words that the text must meet.
   * @default safetyCriteria
   */
  readonly criteria?: readonly JudgeCriterion[] | string | undefined
  /** Judging model. @default the client's */
  readonly model?: string | undefined
  /** Further options of the judge's model calls. @default none */
  readonly options?: ChatOptions | undefined
  /**
   * Temperature of the judging model; `null` sends none.
   * @default 0, or none for a model that refuses it
   */
  readonly temperature?: number | null | undefined
  /**
   * Lowest score that passes, 0 to 1.
   * @default 0.7
   */
  readonly threshold?: number | undefined
  /**
   * `every` criterion must reach the threshold, or their `weighted` mean.
   * @default 'every'
   */
  readonly combine?: 'every' | 'weighted' | undefined
  /**
   * Number of verdicts for each text. The majority decides; a tie fails the text.
   * @default 1
   */
  readonly samples?: number | undefined
  /** Client that decides if the samples disagree. @default none: the majority decides */
  readonly arbiter?: ChatClient | undefined
  /**
   * Maximum number of model calls for one verdict of the right form.
   * @default 2
   */
  readonly attempts?: number | undefined
  /**
   * Asks the judge for its reason first. A model that has to answer again reads the reason.
   * @default false
   */
  readonly reasoning?: boolean | undefined
  /**
   * Maximum length in characters of one judged piece. Every piece of a longer text must pass.
   * @default 8000
   */
  readonly maxChars?: number | undefined
}

/** Makes one model call of a judge. */
export type JudgeCall = (
  client: ChatClient,
  input: string,
  options: Omit<GetResponseOptions, 'stream'>,
) => Promise<ChatResponse>

/** Verdict about a text, as JSON for caches. */
export interface JudgeOutcome {
  readonly passed: boolean
  /** Score from 0 to 1, 1 is best. */
  readonly score: number
  /** Id of the criterion with the lowest score. */
  readonly worst: string
  readonly reason?: string | undefined
}

/** Makes the tickets of verdicts, which no judged text may know. */
type Tickets = Pick<RunContext['ids'], 'createSecretId'>

/** Creates the function that judges a text. */
export function judgeOf(
  options: JudgeOptions,
  criteria: readonly JudgeCriterion[],
): (data: JudgedData, call: JudgeCall, tickets?: Tickets) => Promise<JudgeOutcome> {
  const { arbiter, attempts = 2, client, maxChars = 8000, model, reasoning = false } = options
  const { samples = 1, temperature = 0 } = options
  const withoutTemperature = new WeakSet<ChatClient>()
  const ids = criteria.map(({ id }) => id)
  const common: ChatOptions = {
    ...mergeChatOptions(options.options, {
      ...(model !== undefined && { model }),
      ...(temperature !== null && { temperature }),
      responseFormat: verdictFormat(criteria, reasoning),
    }),
  }

  async function ask(
    by: ChatClient,
    data: JudgedData,
    call: JudgeCall,
    tickets: Tickets,
  ): Promise<JudgeOutcome> {
    for (let attempt = 1; ; attempt++) {
      // The judged text was written before the ticket: a verdict inside it cannot carry the ticket.
      const ticket = tickets.createSecretId('verdict')
      const instructions = judgeInstructions(criteria, ticket, reasoning)
      const response = await answer(by, JSON.stringify(data), instructions, call)
      try {
        return outcomeOf(parseVerdict(response, ids, ticket), criteria, options)
      } catch (error) {
        if (attempt >= attempts || !LamellaError.is(error, 'judge_malformed')) throw error
      }
    }
  }

  /** Reasoning models refuse a temperature. Unless the application chose one, they are asked without. */
  async function answer(
    by: ChatClient,
    input: string,
    instructions: string,
    call: JudgeCall,
  ): Promise<ChatResponse> {
    const { temperature: _, ...plain } = common
    if (withoutTemperature.has(by)) return call(by, input, { ...plain, instructions })
    try {
      return await call(by, input, { ...common, instructions })
    } catch (error) {
      const isRefused = isProviderError(error) && error.kind === 'invalid_request'
      if (!isRefused || options.temperature !== undefined) throw error
      const response = await call(by, input, { ...plain, instructions })
      withoutTemperature.add(by)
      return response
    }
  }

  async function judgePiece(
    data: JudgedData,
    call: JudgeCall,
    tickets: Tickets,
  ): Promise<JudgeOutcome> {
    const asked = Array.from({ length: samples }, () => ask(client, data, call, tickets))
    const outcomes = (await Promise.all(asked)).toSorted((a, b) => a.score - b.score)
    const isPassed = 2 * outcomes.filter(({ passed }) => passed).length > samples
    const agreed = outcomes.filter(({ passed }) => passed === isPassed)
    if (arbiter && agreed.length < samples) return ask(arbiter, data, call, tickets)
    return agreed[agreed.length >> 1]!
  }

  return async (data, call, tickets = { createSecretId }) => {
    let worst: JudgeOutcome | undefined
    for (const text of pieces(data.text, maxChars)) {
      const outcome = await judgePiece({ ...data, text }, call, tickets)
      if (worst === undefined || outcome.score < worst.score) worst = outcome
      if (!outcome.passed) return outcome
    }
    return worst!
  }
}

function outcomeOf(
  { reason, scores }: JudgeAnswer,
  criteria: readonly JudgeCriterion[],
  { combine = 'every', threshold = 0.7 }: JudgeOptions,
): JudgeOutcome {
  let least = Infinity
  let worst = ''
  let sum = 0
  let weights = 0
  for (const { failIf = 'no', id, weight = 1 } of criteria) {
    const merit = failIf === 'yes' ? 1 - scores.get(id)! : scores.get(id)!
    if (merit < least) [least, worst] = [merit, id]
    sum += weight * merit
    weights += weight
  }
  const score = combine === 'every' ? least : sum / weights
  return { passed: score >= threshold, score, worst, ...(reason !== undefined && { reason }) }
}

/** Splits a text into overlapping pieces, so that nothing is cut apart unread. */
function pieces(text: string, maxChars: number): readonly string[] {
  if (text.length <= maxChars) return [text]
  const step = maxChars - Math.min(200, maxChars >> 1)
  const count = Math.ceil((text.length - maxChars) / step) + 1
  return Array.from({ length: count }, (_, at) => text.slice(at * step, at * step + maxChars))
}
