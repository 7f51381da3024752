import type { ChatContext } from '@lamella/core'
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
export function checkWindowShare(owner: string, { share, of, otherwise }: WindowShare): void {
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

/**
 * Returns the tokens that the input of a call may have: the share of the window, and no more than its
 * `maxOutputTokens` leave.
 * @throws LamellaError `window_unknown`
 */
export function tokensOfShare(
  owner: string,
  { share, of, otherwise }: WindowShare,
  { client, options }: ChatContext,
): number {
  const model = options.model ?? client.model ?? ''
  const window = of.facts(client.provider, model)?.contextTokens
  if (window !== undefined) {
    return Math.max(
      1,
      Math.min(Math.floor(window * share), window - (options.maxOutputTokens ?? 0)),
    )
  }
  if (otherwise !== undefined) return otherwise
  throw new LamellaError(
    `${owner}: \`maxTokens.of\` does not know the window of the model ${client.provider}/${model}`,
    { code: 'window_unknown' },
  )
}
