/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that Lamella reads, so that
 * zod, valibot, arktype and others fit without a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** Properties that the specification defines. */
  readonly '~standard': {
    readonly version: 1
    /** Name of the library that made the schema. */
    readonly vendor: string
    /** Validates a value. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    /** Types of the schema. Exists for the compiler only. */
    readonly types?:
      | {
          /** Type of the input. */
          readonly input: Input
          /** Type of the output. */
          readonly output: Output
        }
      | undefined
    /** Standard JSON Schema: the schema's description of itself. */
    readonly jsonSchema?:
      | {
          /** Describes accepted input for a dialect, such as `draft-07`. */
          readonly input: (options: { readonly target: string }) => Record<string, unknown>
          /** Describes the output for a dialect, such as `draft-07`. */
          readonly output: (options: { readonly target: string }) => Record<string, unknown>
        }
      | undefined
  }
}

/** Result of a validation: the value, or the issues. */
export type StandardResult<Output> =
  | {
      /** The validated value, after the schema's transforms. */
      readonly value: Output
      /** Reasons why the value does not fit. Undefined on success. */
      readonly issues?: undefined
    }
  | { readonly issues: readonly StandardIssue[] }

/** A reason why a value does not fit a schema. */
export interface StandardIssue {
  /** Description of the problem. */
  readonly message: string
  /** Keys that lead to the problem. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema, draft 7 or 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** A schema: any Standard Schema, or a JSON Schema. */
export type Schema<Output = unknown> = StandardSchema<unknown, Output> | JsonSchema

/** The type that a schema's values have. */
export type InferSchema<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : Record<string, unknown>

/** Returns true for a schema that validates by itself, as those of zod, valibot and arktype do. */
function isStandardSchema(schema: unknown): schema is StandardSchema {
  return schema === Object(schema) && '~standard' in (schema as object)
}

/**
 * Converts a schema to JSON Schema for a model. A JSON Schema is returned unchanged; a Standard
 * Schema describes its own input, in draft 2020-12 if it supports that, else in draft 7.
 * @throws TypeError that begins with `subject` if it does not describe itself
 */
export function toJsonSchema(schema: Schema, subject = 'schema'): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const { vendor, jsonSchema } = schema['~standard']
  let cause: unknown = new Error(`${vendor} does not describe it`)
  for (const target of jsonSchema ? ['draft-2020-12', 'draft-07'] : []) {
    try {
      const { $schema: _dialect, ...described } = jsonSchema!.input({ target })
      return described
    } catch (error) {
      cause = error
    }
  }
  throw new TypeError(
    `${subject} cannot be shown to a model (${(cause as Error).message}): pass its \`jsonSchema\` too`,
    { cause },
  )
}
