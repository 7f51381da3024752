/**
 * A tool for the AI SDK, made by `tool()`, `dynamicTool()`, a provider's `tools` or by hand.
 */
export interface AiSdkTool {
  /** Kind of tool; a `provider` runs its own. */
  readonly type?: 'function' | 'dynamic' | 'provider' | 'provider-defined' | undefined
  /** Description for the model. */
  readonly description?: string | ((options: never) => string) | undefined
  /** Schema of the input: a Standard Schema, or what `jsonSchema()` or `zodSchema()` made. */
  readonly inputSchema?: unknown
  /** Runs a call. An async iterable streams progress; its last value is the result. */
  readonly execute?: ((input: never, options: never) => unknown) | undefined
  /** Requires a person's approval before a call runs. */
  readonly needsApproval?:
    | boolean
    | ((input: never, options: never) => boolean | PromiseLike<boolean>)
    | undefined
  /** Converts a result to the content that the model reads. */
  readonly toModelOutput?: ((options: never) => unknown) | undefined
  /** Id of a provider's tool, such as `openai.web_search`. */
  readonly id?: string | undefined
  /** Settings of a provider's tool. */
  readonly args?: Readonly<Record<string, unknown>> | undefined
  /** Enforces the schema, if the provider supports that. */
  readonly strict?: boolean | undefined
  /** Examples of inputs. */
  readonly inputExamples?: readonly object[] | undefined
  /** Options for the model's provider. */
  readonly providerOptions?: object | undefined
}
