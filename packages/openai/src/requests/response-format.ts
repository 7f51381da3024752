import type { JsonSchema, ResponseFormat } from '@lamella/core'
import { answerSchema, legalName } from '@lamella/transport'
import { strictSchema } from './strict-schema.ts'

/** A schema as both APIs take it. */
export interface NamedSchema {
  readonly name: string
  readonly schema: JsonSchema
  readonly strict: boolean
}

/**
 * The schema of a response format. It is sent as strict if OpenAI accepts it so, unless the format
 * says otherwise; a schema that is not accepted is sent as a hint, and the answer is checked here.
 */
export function namedSchema(format: Exclude<ResponseFormat, string>): NamedSchema {
  const { schema } = answerSchema(format)
  const { title } = schema
  const name = legalName(format.name ?? (typeof title === 'string' ? title : ''), 64) || 'response'
  if (format.strict === false) return { name, schema, strict: false }
  const strict = strictSchema(schema)
  if (strict !== undefined) return { name, schema: strict, strict: true }
  return { name, schema, strict: format.strict ?? false }
}
