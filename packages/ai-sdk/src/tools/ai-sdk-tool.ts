/**
 * A tool that was written for the AI SDK, by `tool()`, `dynamicTool()`, a provider's `tools` or by hand.
 */
export interface AiSdkTool {
  /** Kind of tool; a `provider` runs its own. */
  readonly type?: 'function' | 'dynamic' | 'provider' | 'provider-defined' | undefined
  /** Text that tells the model what the tool is for. */
  readonly description?: string | ((options: never) => string) | undefined
  /** Schema of the input: a Standard Schema, or what `jsonSchema()` or `zodSchema()` made. */
  readonly inputSchema?: unknown
  /** Runs a call. An async iterable streams progress; what comes last is the result. */
  readonly execute?: ((input: never, options: never) => unknown) | undefined
  /** Asks a person before a call runs. */
  readonly needsApproval?:
    | boolean
    | ((input: never, options: never) => boolean | PromiseLike<boolean>)
    | undefined
  /** Makes of a result what the model reads. */
  readonly toModelOutput?: ((options: never) => unknown) | undefined
  /** Id of a provider's tool, such as `openai.web_search`. */
  readonly id?: string | undefined
  /** Settings of a provider's tool. */
  readonly args?: Readonly<Record<string, unknown>> | undefined
  /** Holds the model to the schema, where its provider can. */
  readonly strict?: boolean | undefined
  /** Examples of inputs. */
  readonly inputExamples?: readonly object[] | undefined
  /** Options for the model's provider. */
  readonly providerOptions?: object | undefined
}
