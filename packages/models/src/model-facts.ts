/** US dollars for a million tokens. */
export interface ModelRates {
  /** Price of input tokens. */
  readonly input: number
  /** Price of output tokens. */
  readonly output: number
  /** Price of input tokens read from the provider's prompt cache. @default `input` */
  readonly cachedInput?: number | undefined
  /** Price of input tokens written to the prompt cache. @default `input` */
  readonly cacheWrite?: number | undefined
  /** Price of input tokens written to the prompt cache for an hour. @default `cacheWrite` */
  readonly cacheWrite1h?: number | undefined
}

/** Prices of a model. */
export interface ModelPrices extends ModelRates {
  /** Rates of calls with a longer input, from the shortest to the longest. */
  readonly tiers?: readonly (ModelRates & { readonly aboveInputTokens: number })[] | undefined
}

/** Facts of a model. A field is left out if no source knows it. */
export interface ModelFacts {
  /** Tokens that input and output may have together. */
  readonly contextTokens?: number | undefined
  /** Tokens that an answer may have. */
  readonly outputTokens?: number | undefined
  /** Prices of tokens. */
  readonly prices?: ModelPrices | undefined
  /** Kinds of content that the model reads, such as `text`, `image` and `pdf`. */
  readonly inputs?: readonly string[] | undefined
  /** Further abilities: `tools`, `reasoning`. */
  readonly abilities?: readonly string[] | undefined
}

/** Model of a call, as far as it is known. */
export interface ModelName {
  /** Name of the provider. */
  readonly provider?: string | undefined
  /** Name of the model. */
  readonly model?: string | undefined
}
