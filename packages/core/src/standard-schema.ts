/**
 * The part of Standard Schema (https://standardschema.dev, version 1) that Lamella reads, so that
 * zod, valibot, arktype and others fit without a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Standard JSON Schema: how the schema describes itself to others. */
    readonly jsonSchema?:
      | {
          readonly input: (options: { readonly target: string }) => Record<string, unknown>
          readonly output: (options: { readonly target: string }) => Record<string, unknown>
        }
      | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema, draft 7 or 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Wherever a schema is taken: any Standard Schema, or a JSON Schema. */
export type Schema<Output = unknown> = StandardSchema<unknown, Output> | JsonSchema

/** The type that a schema's values have. */
export type InferSchema<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : Record<string, unknown>

/** Whether a schema validates by itself, as those of zod, valibot and arktype do. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return schema === Object(schema) && '~standard' in (schema as object)
}

/**
 * How a schema is shown to a model: a JSON Schema as it is, a Standard Schema by its own
 * description of its input, in draft 2020-12 if it knows that one, else in draft 7.
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
