import type { JsonSchema, Schema, StandardSchema } from '@lamella/core'
import { recordOf } from '@lamella/transport'

/** Schema that arguments are checked with, and its JSON Schema where it cannot describe itself. */
export interface InputSchema {
  readonly parameters: Schema
  readonly jsonSchema?: JsonSchema
}

/**
 * Reads the schema of a tool.
 * @throws TypeError for a schema that is only there later, or that is none
 */
export function inputSchema(schema: unknown, subject: string): InputSchema {
  // A lazy schema is a function, and so are the schemas of some libraries.
  if (typeof schema === 'function' && !('~standard' in schema))
    return inputSchema(schema(), subject)
  const { jsonSchema, validate } = recordOf(schema)
  if (typeof jsonSchema === 'object' && jsonSchema !== null) {
    if ('then' in jsonSchema) {
      throw new TypeError(`${subject}: the schema is a promise; give the JSON Schema itself`)
    }
    const described = jsonSchema as JsonSchema
    if (typeof validate !== 'function') return { parameters: described }
    return { parameters: checked(validate as Validate), jsonSchema: described }
  }
  if ('~standard' in Object(schema)) return { parameters: schema as StandardSchema }
  throw new TypeError(
    `${subject}: \`inputSchema\` must be a Standard Schema or made by jsonSchema()`,
  )
}

type Validate = (value: unknown) => unknown

function checked(validate: Validate): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate: async (value) => {
        const { success, value: valid, error } = recordOf(await validate(value))
        if (success === true) return { value: valid }
        const message = error instanceof Error ? error.message : 'does not fit the schema'
        return { issues: [{ message }] }
      },
    },
  }
}
