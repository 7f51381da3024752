import type { JsonSchema, ResponseFormat } from '@lamella/core'
import { toJsonSchema } from '@lamella/core/authoring'
import { recordOf } from '../wire/wire.ts'

/** Schema of an answer as providers take it, which is one of an object. */
export interface AnswerSchema {
  /** Schema of an object. */
  readonly schema: JsonSchema
  /** True if the value is the property `value` of that object, because it may be something else. */
  readonly isWrapped: boolean
}

/** The schema of a response format. A list, a union or a text is wrapped as `{ value }`. */
export function answerSchema(format: Exclude<ResponseFormat, string>): AnswerSchema {
  const schema = toJsonSchema(format.schema, 'responseFormat: the schema')
  return isOfObject(schema)
    ? { schema, isWrapped: false }
    : { schema: wrapped(schema), isWrapped: true }
}

function isOfObject(schema: JsonSchema): boolean {
  const { type, $ref: reference } = schema
  if (typeof reference !== 'string') return type === 'object'
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  return recordOf(recordOf(schema[place])[name])['type'] === 'object'
}

function wrapped(schema: JsonSchema): JsonSchema {
  const { $defs, definitions, ...value } = schema
  const isRecursive = JSON.stringify(schema).includes('"$ref":"#"')
  const definitionsOf = isRecursive ? { ...recordOf($defs), [ownName]: atOwnName(value) } : $defs
  return {
    type: 'object',
    properties: { value: isRecursive ? { $ref: `#/$defs/${ownName}` } : value },
    required: ['value'],
    additionalProperties: false,
    ...(definitionsOf !== undefined && { $defs: atOwnName(definitionsOf) }),
    ...(definitions !== undefined && { definitions: atOwnName(definitions) }),
  }
}

const ownName = 'value'

/** A part whose references to the whole schema lead to its place in the wrapper. */
function atOwnName(part: unknown): unknown {
  return JSON.parse(
    JSON.stringify(part, (key, value: unknown) =>
      key === '$ref' && value === '#' ? `#/$defs/${ownName}` : value,
    ),
  )
}
