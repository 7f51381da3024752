import { checkNames, checkTimeLimit, checkValue } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import { checkJsonSchema } from '../base/json-schema.ts'
import type { InferSchema, JsonSchema, Schema } from '../base/standard-schema.ts'
import { checkSchema, toJsonSchema } from '../base/standard-schema.ts'
import type { ApprovalPolicy, FunctionInvocationContext, HostedTool, Tool } from './run.ts'

/** Options of `tool`. */
export interface ToolOptions<Parameters extends Schema, Data = unknown> {
  /** Letters, digits, `_` and `-`, at most 64, as all providers accept. */
  readonly name: string
  /** Description for the model: when to use the tool, and what it returns. */
  readonly description: string
  /**
   * A schema of zod, valibot, arktype or another library, or from `jsonSchema`.
   * @default an object without properties
   */
  readonly parameters?: Parameters | undefined
  /** Another name for `parameters`, as MCP and the AI SDK call them. @default `parameters` */
  readonly inputSchema?: Parameters | undefined
  /**
   * JSON Schema for the model, if `parameters` cannot or should not describe itself. Arguments are checked with
   * `parameters` only.
   * @default the JSON Schema of `parameters`
   */
  readonly jsonSchema?: JsonSchema | undefined
  /**
   * Runs the call. A value becomes text or JSON, content parts stay unchanged, and an async
   * generator yields progress and returns the result. Without it, it is a client-side tool: a call
   * pauses the run.
   */
  readonly execute?:
    | ((args: InferSchema<Parameters>, context: FunctionInvocationContext<Data>) => unknown)
    | undefined
  /** Policy that decides which calls need a person's approval. @default 'never' */
  readonly approval?: ApprovalPolicy | undefined
  /** Milliseconds after which the call is aborted and counts as failed. @default no limit */
  readonly timeoutMs?: number | undefined
  /**
   * Returns the tool's result as the answer of the run, without another model call.
   * @default false
   */
  readonly returnDirect?: boolean | undefined
  /**
   * Declares that repeating a call has the same effect as one call. After a crash the call runs again; that of
   * another tool gets a result with the error code `uncertain`.
   * @default false
   */
  readonly idempotent?: boolean | undefined
  /** Declares that the tool changes nothing. @default false */
  readonly readOnly?: boolean | undefined
  /**
   * Prevents other calls of the same response from running at the same time.
   * @default false
   */
  readonly exclusive?: boolean | undefined
  /**
   * Sends the progress that the tool yields to clients, for example with `toSSE(stream)`.
   * @default false
   */
  readonly publicProgress?: boolean | undefined
  /** Values for middleware. Never shown to the model. @default none */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Other names by which the model may call the tool, such as its old name. They are not shown, and
   * names of tools take precedence.
   * @default []
   */
  readonly aliases?: readonly string[] | undefined
  /**
   * Other names of arguments, mapped to the real names: `{ path: 'file' }`. An argument given by
   * its real name takes precedence.
   * @default {}
   */
  readonly argumentAliases?: Readonly<Record<string, string>> | undefined
}

/**
 * Creates a tool that the model may call. The arguments of `execute` have the type of `parameters`.
 * @throws TypeError or RangeError that names the option and the value
 *
 * @example
 * ```ts
 * import { jsonSchema, tool } from '@lamella/core'
 *
 * const weather = tool({
 *   name: 'weather',
 *   description: 'Returns the weather of a city.',
 *   parameters: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
 *   execute: ({ city }) => `It is sunny in ${city}.`,
 * })
 * console.log(weather.name) // weather
 * ```
 */
export function tool<Parameters extends Schema = Schema<Record<string, unknown>>, Data = unknown>(
  options: ToolOptions<Parameters, Data>,
): Tool {
  checkNames('tool', options, toolOptionNames, notOfTools)
  const { name, description, execute, approval = 'never', timeoutMs, metadata } = options
  const given = options.parameters ?? options.inputSchema
  const parameters: Schema = given ?? noParameters

  const isName = typeof name === 'string' && /^[\w-]{1,64}$/.test(name)
  checkValue(isName, 'tool: `name`', 'be 1 to 64 letters, digits, `_` or `-`', name, 'string')
  checkValue(typeof description === 'string', 'tool: `description`', 'be a string', description)
  checkSchema(`tool: \`parameters\` of "${name}"`, parameters)
  const isRun = execute === undefined || typeof execute === 'function'
  checkValue(isRun, 'tool: `execute`', 'be a function', execute)
  const isPolicy = approval === 'never' || approval === 'always' || typeof approval === 'function'
  checkValue(isPolicy, 'tool: `approval`', "be 'never', 'always' or a function", approval, 'string')
  checkTimeLimit('tool', 'timeoutMs', timeoutMs)
  if (options.jsonSchema !== undefined) checkJsonSchema('tool: `jsonSchema`', options.jsonSchema)
  const isChecked = options.jsonSchema === undefined || given !== undefined
  checkValue(isChecked, 'tool: `jsonSchema`', 'have `parameters` beside it', options.jsonSchema)
  const source = `tool: \`${options.jsonSchema ? 'jsonSchema' : 'parameters'}\` of "${name}"`
  const jsonSchema = options.jsonSchema ?? toJsonSchema(parameters, source)
  const { type } = jsonSchema
  checkValue(type === 'object', source, "have `type: 'object'` at the top", type, 'string')

  return Object.freeze({
    type: 'function',
    name,
    description,
    jsonSchema,
    parameters,
    execute: execute as Tool['execute'],
    approval,
    timeoutMs,
    returnDirect: options.returnDirect === true,
    idempotent: options.idempotent === true,
    readOnly: options.readOnly === true,
    exclusive: options.exclusive === true,
    publicProgress: options.publicProgress === true,
    metadata,
    aliases: [...(options.aliases ?? [])],
    argumentAliases: options.argumentAliases,
  })
}

/**
 * Creates a tool that the provider runs, defined in the provider's format.
 * @throws TypeError or RangeError that names the argument and the value
 */
export function hostedTool(
  name: string,
  definition: Readonly<Record<string, unknown>>,
): HostedTool {
  const isName = typeof name === 'string' && name !== ''
  checkValue(isName, 'hostedTool: `name`', 'be a string that is not empty', name, 'string')
  checkValue(isObject(definition), 'hostedTool: `definition`', 'be an object', definition)
  return Object.freeze({ type: 'hosted', name, definition })
}

const withoutProperties = (): JsonSchema => ({ type: 'object', properties: {} })

const noParameters: Schema<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'lamella',
    validate: (value) =>
      isObject(value) ? { value } : { issues: [{ message: 'must be object' }] },
    jsonSchema: { input: withoutProperties, output: withoutProperties },
  },
}

const toolOptions: { readonly [Name in keyof Required<ToolOptions<Schema>>]: 1 } = {
  name: 1,
  description: 1,
  parameters: 1,
  inputSchema: 1,
  jsonSchema: 1,
  execute: 1,
  approval: 1,
  timeoutMs: 1,
  returnDirect: 1,
  idempotent: 1,
  readOnly: 1,
  exclusive: 1,
  publicProgress: 1,
  metadata: 1,
  aliases: 1,
  argumentAliases: 1,
}
// A tool may be made from another one, which has a type.
const toolOptionNames = [...Object.keys(toolOptions), 'type']
const notOfTools = { outputSchema: 'say in `description` what the tool returns' }
