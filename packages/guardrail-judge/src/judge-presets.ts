import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { JudgeCriterion } from './judge-criterion.ts'

/** Options of `onTopic`. */
export interface OnTopicOptions {
  /** Topics that the agent is there for, such as `['orders of our shop', 'returns']`. */
  readonly topics: readonly string[]
  /** Topics that fail even where they touch those. @default none */
  readonly except?: readonly string[] | undefined
}

/**
 * Criterion `off_topic`: the text is about the topics that the agent is there for. Greetings, thanks, questions back
 * and a refusal of other topics pass.
 * @throws TypeError or RangeError that names the option and the value
 */
export function onTopic(options: OnTopicOptions): JudgeCriterion {
  checkOptions('onTopic', options, { topics: 'any', except: 'any' })
  const { topics, except = [] } = options
  const without =
    except.length === 0 ? '' : ` It must not be about: ${listed('onTopic', 'except', except)}.`
  return {
    id: 'off_topic',
    question: `Is the text about one of these topics: ${listed('onTopic', 'topics', topics)}?${without} Greetings, thanks, questions back, and a text that only declines another topic count as yes.`,
    feedback: 'Keep to the topics that you are there for.',
  }
}

/**
 * Criterion `ungrounded`: every claim of the text is supported by results of the run's tools, which the
 * judge reads as `sources`, or by what the user said. Without any result, claims about facts fail.
 */
export function grounded(): JudgeCriterion {
  return {
    id: 'ungrounded',
    question:
      'Is every factual claim of the text supported by "sources" or by what the user said in "conversation"? Claims that contradict them, or add numbers, names or dates that are in neither, count as no. A text without factual claims counts as yes.',
    feedback: 'Claim only what the results of your tools say.',
    sources: true,
  }
}

/**
 * Criterion `language`: the text is in one of the languages. Names, quotations, code and single loan words
 * may be in others.
 * @param languages names or codes, such as `['English', 'de']`
 * @throws TypeError or RangeError that names the option and the value
 */
export function language(...languages: readonly string[]): JudgeCriterion {
  return {
    id: 'language',
    question: `Is the text written in one of these languages: ${listed('language', 'languages', languages)}? Names, quotations, code and single loan words in other languages do not matter.`,
    feedback: `Answer in ${languages[0]}.`,
  }
}

/**
 * Criterion `competitors`: the text neither recommends nor praises nor compares with one of the named
 * companies or products. A text that only says it does not talk about them passes.
 * @param names companies, brands or products, with other spellings
 * @throws TypeError or RangeError that names the option and the value
 */
export function competitors(...names: readonly string[]): JudgeCriterion {
  return {
    id: 'competitors',
    question: `Does the text recommend, praise, link to, or compare with one of these: ${listed('competitors', 'names', names)}, also in another spelling or by a description that fits only one of them? Saying that it does not talk about them counts as no.`,
    failIf: 'yes',
    feedback: 'Do not talk about other companies.',
  }
}

/** Longest part of a list in characters. */
const longestName = 200

function listed(owner: string, option: string, names: readonly string[]): string {
  const isList =
    Array.isArray(names) &&
    names.length > 0 &&
    names.every(
      (name) => typeof name === 'string' && name.trim() !== '' && name.length <= longestName,
    )
  if (!isList) throw wrongOption(owner, option, 'a list of texts that is not empty', names)
  return names.map((name) => JSON.stringify(name)).join(', ')
}
