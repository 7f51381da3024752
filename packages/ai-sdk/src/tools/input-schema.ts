import type { JsonSchema, Schema } from '@lamella/core'
import { jsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
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
  const { jsonSchema: described, validate } = recordOf(schema)
  if (isObject(described)) {
    if ('then' in described) {
      throw new TypeError(`${subject}: the schema is a promise; give the JSON Schema itself`)
    }
    if (typeof validate !== 'function') return { parameters: jsonSchema(described) }
    return { parameters: checked(validate as Validate), jsonSchema: described }
  }
  if ('~standard' in Object(schema)) return { parameters: schema as Schema }
  throw new TypeError(
    `${subject}: \`inputSchema\` must be a Standard Schema or made by jsonSchema()`,
  )
}

type Validate = (value: unknown) => unknown

function checked(validate: Validate): Schema {
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
