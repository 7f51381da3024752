import type { FunctionInvocationContext } from './function-context.ts'
import type { InferSchema, JsonSchema, Schema } from './standard-schema.ts'
import { isStandardSchema, toJsonSchema } from './standard-schema.ts'

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

  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    throw wrong('tool: `name` must be 1 to 64 letters, digits, `_` or `-`', name, 'string')
  }
  if (typeof description !== 'string') {
    throw wrong('tool: `description` must be a string', description)
  }
  if (typeof parameters !== 'object' && !isStandardSchema(parameters)) {
    throw wrong('tool: `parameters` must be a Standard Schema or a JSON Schema', parameters)
  }
  if (execute !== undefined && typeof execute !== 'function') {
    throw wrong('tool: `execute` must be a function', execute)
  }
  if (approval !== 'never' && approval !== 'always' && typeof approval !== 'function') {
    throw wrong("tool: `approval` must be 'never', 'always' or a function", approval, 'string')
  }
  // Timers count milliseconds in 31 bits; what is longer fires at once.
  const isTimer = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 2 ** 31
  if (timeoutMs !== undefined && !isTimer) {
    throw wrong('tool: `timeoutMs` must be more than 0 and less than 2 ** 31', timeoutMs, 'number')
  }
  const jsonSchema =
    options.jsonSchema ?? toJsonSchema(parameters, `tool: \`parameters\` of "${name}"`)
  if (jsonSchema['type'] !== 'object') {
    const option = options.jsonSchema === undefined ? 'parameters' : 'jsonSchema'
    const rule = "must have `type: 'object'` at the top"
    throw wrong(`tool: the schema in \`${option}\` ${rule}`, jsonSchema['type'], 'string')
  }

  return Object.freeze({
    type: 'function',
    name,
    description,
    jsonSchema,
    parameters,
    execute: execute as Tool['execute'],
    approval,
    timeoutMs,
    returnDirect: options.returnDirect ?? false,
    idempotent: options.idempotent ?? false,
    readOnly: options.readOnly ?? false,
    exclusive: options.exclusive ?? false,
    metadata,
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
  if (typeof name !== 'string' || name === '') {
    throw wrong('hostedTool: `name` must be a string that is not empty', name, 'string')
  }
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    throw wrong('hostedTool: `definition` must be an object', definition)
  }
  return Object.freeze({ type: 'hosted', name, definition })
}

const noParameters: JsonSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) })

/** A RangeError for a value of the right type, a TypeError for any other. */
function wrong(rule: string, value: unknown, type?: string): Error {
  const Kind = typeof value === type ? RangeError : TypeError
  const got = typeof value === 'object' && value !== null ? 'an object' : String(value)
  return new Kind(`${rule}, got ${typeof value === 'string' ? `"${value}"` : got}`)
}
