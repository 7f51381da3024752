/** Input of a model call, read from either wire protocol. */
export interface ModelConversation {
  /** Instructions of the system. */
  readonly instructions: string
  /** Messages, the oldest first. */
  readonly turns: readonly ModelTurn[]
  /** Tools that the call offers. */
  readonly tools: readonly OfferedTool[]
  /** Choice of tools: the model decides, none, at least one, or the named one. */
  readonly toolChoice:
    | 'auto'
    | 'none'
    | 'required'
    | {
        /** Name of the tool. */
        readonly name: string
      }
  /** True if one answer may have several calls. */
  readonly parallelCalls: boolean
  /** Format of the answer. */
  readonly format:
    | 'text'
    | 'json'
    | {
        /** JSON Schema that the answer must fit. */
        readonly schema: Readonly<Record<string, unknown>>
      }
  /** Maximum number of tokens in the answer. */
  readonly maxTokens: number | undefined
  /** Texts at which the answer ends. */
  readonly stop: readonly string[]
}

/** One message of a conversation. */
export interface ModelTurn {
  /** Author of the message. */
  readonly role: 'user' | 'assistant' | 'tool'
  /** Text of the message; of a tool, its result. */
  readonly text: string
  /** Tool calls of an assistant. */
  readonly calls: readonly (ModelCall & {
    /** Id of the call. */
    readonly id: string
  })[]
  /** Id of the call that a tool answers. */
  readonly callId?: string
}

/** A tool call of a model. */
export interface ModelCall {
  /** Name of the tool. */
  readonly name: string
  /** Arguments as raw text, usually JSON. */
  readonly arguments: string
}

/** A tool that a call offers. */
export interface OfferedTool {
  /** Name of the tool. */
  readonly name: string
  /** Description of the tool. */
  readonly description: string
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Answer of a model: text, calls, or a refusal. */
export interface ModelAnswer {
  /** Text of the answer. */
  readonly text?: string | undefined
  /** Tool calls of the answer. */
  readonly calls?: readonly ModelCall[] | undefined
  /** Text of a refusal. */
  readonly refusal?: string | undefined
  /** Reason why the text was cut: `maxTokens` or a filter. */
  readonly cut?: 'length' | 'content-filter' | undefined
  /**
   * Usage to report.
   * @default estimated
   */
  readonly usage?: ModelUsage | undefined
}

/** Tokens of a model call. */
export interface ModelUsage {
  /** Tokens of the input. */
  readonly inputTokens: number
  /** Tokens of the output. */
  readonly outputTokens: number
  /** Tokens of the input that were cached. */
  readonly cachedTokens?: number | undefined
  /** Tokens of the output that were reasoning. */
  readonly reasoningTokens?: number | undefined
}
