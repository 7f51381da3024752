import { checkValue } from './check-options.ts'

/**
 * A schema of zod, valibot, arktype or another library, or one from `jsonSchema`: the part of Standard Schema
 * (https://standardschema.dev, version 1) that Lamella reads. `Output` is the type of validated values.
 */
export interface Schema<Output = unknown> {
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
          readonly input: unknown
          /** Type of the output. */
          readonly output: Output
        }
      | undefined
    /** Standard JSON Schema: the schema's description of itself. */
    readonly jsonSchema?:
      | {
          /** Describes accepted input for a dialect, such as `draft-07`. */
          readonly input: (options: { readonly target: string }) => JsonSchema
          /** Describes the output for a dialect, such as `draft-07`. */
          readonly output: (options: { readonly target: string }) => JsonSchema
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

/** The type of the values that a schema validates. */
export type InferSchema<S> = S extends Schema<infer Output> ? Output : never

/** @throws TypeError that begins with `subject` for what is no schema, such as a JSON Schema by itself. */
export function checkSchema(subject: string, schema: unknown): void {
  const isSchema = schema === Object(schema) && '~standard' in (schema as object)
  checkValue(isSchema, subject, 'be a Standard Schema, as of zod, or `jsonSchema({ … })`', schema)
}

/**
 * Converts a schema to JSON Schema for a model. A schema describes its own input, in draft 2020-12 if it supports
 * that, else in draft 7.
 * @throws TypeError that begins with `subject` if it does not describe itself
 */
export function toJsonSchema(schema: Schema, subject = 'schema'): JsonSchema {
  checkSchema(subject, schema)
  const { vendor, jsonSchema } = schema['~standard']
  let cause: unknown = new Error(`${vendor} does not describe it`)
  for (const target of jsonSchema ? ['draft-2020-12', 'draft-07'] : []) {
    try {
      const described = jsonSchema!.input({ target })
      if (!('$schema' in described)) return described
      const { $schema: _dialect, ...rest } = described
      return rest
    } catch (error) {
      cause = error
    }
  }
  throw new TypeError(
    `${subject} cannot be shown to a model (${(cause as Error).message}): pass its \`jsonSchema\` too`,
    { cause },
  )
}
