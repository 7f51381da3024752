/** What a model is given, read from either wire protocol. */
export interface ModelConversation {
  readonly instructions: string
  readonly turns: readonly ModelTurn[]
  readonly tools: readonly OfferedTool[]
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string }
  readonly parallelCalls: boolean
  readonly format: 'text' | 'json' | { readonly schema: Readonly<Record<string, unknown>> }
  readonly maxTokens: number | undefined
  readonly stop: readonly string[]
}

export interface ModelTurn {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** Of an assistant. */
  readonly calls: readonly (ModelCall & { readonly id: string })[]
  /** Of a tool: the call that it answers. */
  readonly callId?: string
}

export interface ModelCall {
  readonly name: string
  /** The raw text, JSON as a rule. */
  readonly arguments: string
}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** What a model answers: text, calls, or a refusal. */
export interface ModelAnswer {
  readonly text?: string | undefined
  readonly calls?: readonly ModelCall[] | undefined
  readonly refusal?: string | undefined
  /** The text was cut, by `maxTokens` or by a filter. */
  readonly cut?: 'length' | 'content-filter' | undefined
  readonly usage?: ModelUsage | undefined
}

export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of the input. */
  readonly cachedTokens?: number | undefined
  /** Part of the output. */
  readonly reasoningTokens?: number | undefined
}
