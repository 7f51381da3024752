import type { FunctionInvocationContext } from './function-context.ts'
import { isObject } from './is-object.ts'
import type { InferSchema, JsonSchema, Schema } from './standard-schema.ts'
import { toJsonSchema } from './standard-schema.ts'

/** What is known of a call when it is decided whether a person must approve it. */
export interface ApprovalSubject {
  readonly callId: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export type ApprovalPolicy =
  | 'never'
  | 'always'
  | ((subject: ApprovalSubject) => boolean | Promise<boolean>)

/** A tool that this process (or, without `execute`, the caller) runs. */
export interface Tool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  /** What the model is shown. */
  readonly jsonSchema: JsonSchema
  /** What arguments are checked with. */
  readonly parameters: Schema
  /** Absent: the tool is only declared, and a call to it pauses the run. */
  readonly execute?:
    | ((args: Record<string, unknown>, context: FunctionInvocationContext) => unknown)
    | undefined
  readonly approval: ApprovalPolicy
  readonly timeoutMs?: number | undefined
  /** The result is the answer of the run; the model is not called again. */
  readonly returnDirect: boolean
  /** Calling it twice is the same as calling it once. */
  readonly idempotent: boolean
  /** It changes nothing. */
  readonly readOnly: boolean
  /** Never runs beside other calls of its batch. */
  readonly exclusive: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Other names by which a model may call it. */
  readonly aliases: readonly string[]
  /** Other names of arguments, each with the one it stands for. */
  readonly argumentAliases?: Readonly<Record<string, string>> | undefined
}

/** A tool that the provider runs itself. Passed through as it is. */
export interface HostedTool {
  readonly type: 'hosted'
  readonly name: string
  /** In the provider's own words. */
  readonly definition: Readonly<Record<string, unknown>>
}

export type ToolDefinition = Tool | HostedTool

/** Options of `tool`. */
export interface ToolOptions<Parameters extends Schema> {
  /** Letters, digits, `_` and `-`, at most 64, as all providers accept. */
  readonly name: string
  readonly description: string
  /**
   * Any Standard Schema (zod, valibot, arktype …) or a JSON Schema.
   * @default an object without properties
   */
  readonly parameters?: Parameters | undefined
  /**
   * What the model is shown, where `parameters` cannot describe itself or should not.
   * @default the JSON Schema of `parameters`
   */
  readonly jsonSchema?: JsonSchema | undefined
  /**
   * Runs the call. A value becomes text or JSON, content parts are taken as they are, and an async
   * generator streams what it yields as progress and returns the result. Without it, the tool is
   * declared only: the run pauses with the call.
   */
  readonly execute?:
    | ((args: InferSchema<Parameters>, context: FunctionInvocationContext) => unknown)
    | undefined
  /** @default 'never' */
  readonly approval?: ApprovalPolicy | undefined
  /** Milliseconds after which the call is aborted and counts as failed. @default no limit */
  readonly timeoutMs?: number | undefined
  /** @default false */
  readonly returnDirect?: boolean | undefined
  /** @default false */
  readonly idempotent?: boolean | undefined
  /** @default false */
  readonly readOnly?: boolean | undefined
  /** @default false */
  readonly exclusive?: boolean | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Other names by which a model may call it, such as its old name. They are not shown, and the tools'
   * own names come first.
   * @default []
   */
  readonly aliases?: readonly string[] | undefined
  /**
   * Other names of arguments, each with the one it stands for: `{ path: 'file' }`. One that was given by
   * its own name stays.
   */
  readonly argumentAliases?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes a tool that the model may call. The arguments of `execute` have the type of `parameters`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function tool<Parameters extends Schema = JsonSchema>(
  options: ToolOptions<Parameters>,
): Tool {
  const { name, description, execute, approval = 'never', timeoutMs, metadata } = options
  const parameters: Schema = options.parameters ?? options.jsonSchema ?? noParameters

  const isName = typeof name === 'string' && /^[\w-]{1,64}$/.test(name)
  check(isName, 'tool: `name`', 'be 1 to 64 letters, digits, `_` or `-`', name, 'string')
  check(typeof description === 'string', 'tool: `description`', 'be a string', description)
  const isSchema = parameters === Object(parameters)
  check(isSchema, 'tool: `parameters`', 'be a Standard Schema or a JSON Schema', parameters)
  const isRun = execute === undefined || typeof execute === 'function'
  check(isRun, 'tool: `execute`', 'be a function', execute)
  const isPolicy = approval === 'never' || approval === 'always' || typeof approval === 'function'
  check(isPolicy, 'tool: `approval`', "be 'never', 'always' or a function", approval, 'string')
  // Timers count milliseconds in 31 bits; what is longer fires at once.
  const isTimer = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 2 ** 31
  const isTime = timeoutMs === undefined || isTimer
  check(isTime, 'tool: `timeoutMs`', 'be more than 0 and less than 2 ** 31', timeoutMs, 'number')
  const source = `tool: \`${options.jsonSchema ? 'jsonSchema' : 'parameters'}\` of "${name}"`
  const jsonSchema = options.jsonSchema ?? toJsonSchema(parameters, source)
  const { type } = jsonSchema
  check(type === 'object', source, "have `type: 'object'` at the top", type, 'string')

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
    metadata,
    aliases: [...(options.aliases ?? [])],
    argumentAliases: options.argumentAliases,
  })
}

/**
 * Makes a tool that the provider runs, described in the provider's own words.
 * @throws TypeError or RangeError that names the argument and the value
 */
export function hostedTool(
  name: string,
  definition: Readonly<Record<string, unknown>>,
): HostedTool {
  const isName = typeof name === 'string' && name !== ''
  check(isName, 'hostedTool: `name`', 'be a string that is not empty', name, 'string')
  check(isObject(definition), 'hostedTool: `definition`', 'be an object', definition)
  return Object.freeze({ type: 'hosted', name, definition })
}

const noParameters: JsonSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) })

/** @throws RangeError for a value of the right type, TypeError for any other */
function check(ok: boolean, option: string, rule: string, value: unknown, type?: string): void {
  if (ok) return
  const Kind = typeof value === type ? RangeError : TypeError
  const got = value === Object(value) ? 'an object' : String(value)
  throw new Kind(`${option} must ${rule}, got ${typeof value === 'string' ? `"${value}"` : got}`)
}
