import type { ChatContext, RunContext } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'

/** Facts of a model, as far as they matter here. */
interface ModelWindow {
  /** Tokens that input and output may have together. */
  readonly contextTokens?: number | undefined
}

/** Share of the window of the model that a call goes to. */
export interface WindowShare {
  /** Share of the window, above 0 and at most 1. */
  readonly share: number
  /** Source of windows by model, such as `models` of `@lamella/models`. */
  readonly of: {
    /** Returns the facts of a model; `undefined` if it is not known. */
    facts(provider: string | undefined, model: string): ModelWindow | undefined
  }
  /**
   * Tokens for a model whose window is not known.
   * @default an error, `window_unknown`
   */
  readonly otherwise?: number | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkWindowShare(owner: string, given: WindowShare | null): void {
  const { share = 0, of, otherwise } = given ?? {}
  if (!(share > 0 && share <= 1)) {
    throw wrongOption(owner, 'maxTokens.share', 'above 0 and at most 1', share)
  }
  if (typeof of?.facts !== 'function') {
    throw wrongOption(owner, 'maxTokens.of', 'an object with the method facts', of)
  }
  if (otherwise !== undefined && !(Number.isInteger(otherwise) && otherwise > 0)) {
    throw wrongOption(owner, 'maxTokens.otherwise', 'a whole number from 1 up', otherwise)
  }
}

/** A model, and the tokens that its answer may have, if the call limits them. */
interface SharedModel {
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly maxOutputTokens?: number | undefined
}

/** The model that a call goes to. */
export function modelOfCall({ client, options }: ChatContext): SharedModel {
  const { maxOutputTokens } = options
  return { provider: client.provider, model: options.model ?? client.model, maxOutputTokens }
}

/** The model that gave the latest answer of a run: it made the calls, and reads their results. */
export function latestModel({ messages }: RunContext): SharedModel {
  const { provider, model } =
    messages.all.findLast(({ role }) => role === 'assistant')?.origin ?? {}
  return { provider, model }
}

/**
 * Returns the tokens that an input may have: the share of the window, and no more than the tokens of the answer
 * leave.
 * @throws LamellaError `window_unknown`
 */
export function tokensOfShare(
  owner: string,
  { share, of, otherwise }: WindowShare,
  { provider, model, maxOutputTokens = 0 }: SharedModel,
): number {
  const window = model === undefined ? undefined : of.facts(provider, model)?.contextTokens
  if (window !== undefined) {
    return Math.max(1, Math.min(Math.floor(window * share), window - maxOutputTokens))
  }
  if (otherwise !== undefined) return otherwise
  throw new LamellaError(
    `${owner}: \`maxTokens.of\` does not know the window of the model ${provider ?? 'unknown'}/${model ?? 'unknown'}`,
    { code: 'window_unknown' },
  )
}
